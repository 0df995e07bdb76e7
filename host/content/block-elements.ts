import type { MarkdownNode } from '../../schemas/generated/api/common.ts'
import type { Block } from '../../schemas/generated/api/content.ts'

export type BlockElement = Exclude<MarkdownNode, string>

/** The elements of a page that may be blocks: those that are written as blocks, and fenced code with a language. */
export const blockElements = (nodes: readonly MarkdownNode[]): BlockElement[] =>
  nodes.flatMap((node) => {
    if (typeof node === 'string') return []
    return node.tag === 'block' || node.language !== undefined ? [node] : blockElements(node.children ?? [])
  })

/** The block that an element is, and its properties there. */
export function toBlock(
  element: BlockElement,
  blocks: readonly Block[],
): { block: Block; props: Record<string, unknown> } | undefined {
  const { tag, integration, language, props = {} } = element
  if (tag === 'block') {
    const block = blocks.find(({ id, ...of }) => id === element.block && of.integration === integration)
    return block && { block, props }
  }
  const block = blocks.find(({ markdown }) => markdown?.codeblock === language)
  if (block === undefined) return undefined
  const { body } = block.markdown ?? {}
  return { block, props: body === undefined ? {} : { [body]: codeOf(element) } }
}

/** Without the end of its last line. */
const codeOf = (node: MarkdownNode): string =>
  typeof node === 'string' ? node.replace(/\n$/, '') : (node.children ?? []).map(codeOf).join('')
