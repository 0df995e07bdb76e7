import { toMarkdownTree } from '../content/markdown-tree.ts'
import type { OnOperation } from './operations.ts'

/** Markdown that no record has, such as that of a component with the state of its page. */
export function addMarkdownRoutes(on: OnOperation): void {
  on('POST /v1/markdown', ({ body }) => ({ object: 'markdown', tree: toMarkdownTree(body.text) }))
}
