import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'

/**
 * The next message of a thread.
 *
 * @param ended what the error says when the thread ends instead; an error in the thread is thrown as it is
 */
export async function nextMessage(thread: Worker, ended: string): Promise<unknown> {
  const settled = new AbortController()
  const { signal } = settled
  const end = once(thread, 'exit', { signal }).then(() => {
    throw new Error(ended)
  })
  try {
    const [message] = await Promise.race([once(thread, 'message', { signal }), end])
    return message
  } finally {
    settled.abort()
  }
}
