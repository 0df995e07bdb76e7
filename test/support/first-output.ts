import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/**
 * Waits for what a process writes first on its stdout.
 *
 * @throws Error when it ends before: a wait for output that cannot come would last until the test's own limit
 */
export async function firstOutput(
  child: ChildProcessByStdio<Writable | null, Readable, Readable | null>,
): Promise<string> {
  const ended = once(child.stdout, 'close').then(() => {
    throw new Error(`the process ${child.pid} ended before it wrote anything`)
  })
  const [first] = await Promise.race([once(child.stdout, 'data'), ended])
  return String(first)
}
