import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { MarkdownTree } from '../../schemas/generated/api/common.ts'
import { toPageTree } from './markdown-tree.ts'

/** A hostile text of this length takes some milliseconds. */
const shortText = 8 * 1024
const defaultMs = 5_000
const heapMb = 256

let turn: Promise<unknown> = Promise.resolve()

/**
 * Markdown of a page as a tree. A long text is drawn in a thread, one after the other: brackets cost the square of their number,
 * and the host answers others meanwhile. A text that takes too long is shown as it is written.
 */
export async function drawPage(markdown: string, mostMs = defaultMs): Promise<MarkdownTree> {
  if (markdown.length <= shortText) return toPageTree(markdown)
  const drawn = turn.then(() => drawInThread(markdown, mostMs))
  turn = drawn
  return drawn
}

async function drawInThread(markdown: string, mostMs: number): Promise<MarkdownTree> {
  const thread = new Worker(new URL('page-thread.ts', import.meta.url), {
    workerData: markdown,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  })
  try {
    const [tree] = await once(thread, 'message', { signal: AbortSignal.timeout(mostMs) })
    return tree
  } catch {
    return [{ tag: 'pre', children: [markdown] }]
  } finally {
    // A thread that is out of memory says so once more.
    thread.on('error', () => {})
    await thread.terminate()
  }
}
