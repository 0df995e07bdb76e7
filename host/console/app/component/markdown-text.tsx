import type { MarkdownTree } from '../../../../schemas/generated/api/common.ts'
import { api } from '../api.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { useKept, useLoad } from '../use-load.ts'
import { resolve } from './bindings.ts'
import { fetchedOf } from './text.tsx'
import { toText } from './tree.ts'
import type { Draw } from './view.ts'

/** A longer text is shown as it is written. */
const maxLength = 16_384
/** While a person types, the host draws what they pause at. */
const pauseMs = 200
const drawn = new Map<string, MarkdownTree>()
const mostKept = 200

/** Markdown, which the host draws: no HTML of a script reaches the page. */
export function MarkdownText({ element, view }: Draw) {
  const text = toText(resolve(element.content, view.state)) ?? ''
  const load = useKept(useLoad(`markdown ${text}`, (signal) => drawMarkdown(text, signal)))
  if (text.length > maxLength) return <pre>{text}</pre>
  const tree = drawn.get(text) ?? load.value
  if (tree !== undefined) return <Markdown tree={tree} srcOf={(href) => fetchedOf(view.pictures, href)} />
  return load.error === undefined ? null : <ErrorNote error={load.error} />
}

async function drawMarkdown(text: string, signal: AbortSignal): Promise<MarkdownTree> {
  const kept = drawn.get(text)
  if (kept !== undefined || text === '' || text.length > maxLength) return kept ?? []
  if (drawn.size > 0) await new Promise((done) => setTimeout(done, pauseMs))
  signal.throwIfAborted()
  const { tree } = await api.call('POST /v1/markdown', { body: { text }, signal })
  drawn.set(text, tree)
  const [oldest] = drawn.keys()
  if (drawn.size > mostKept && oldest !== undefined) drawn.delete(oldest)
  return tree
}
