import { once } from 'node:events'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'

/** Copying commits from the write-ahead log to the database's own file, so that the log can begin anew. */
export type Checkpoints = {
  /** Before a transaction begins: keeps the log from growing for ever. */
  keepShort: () => Promise<void>
  close: () => Promise<void>
}

/** Of 4 KiB: the same few pages change all the time, and are copied once in so many. */
const longestLog = 10_000
/** Asking for its length takes as long as a small statement. A copied log begins anew with the next commit, not before. */
const lookEvery = 16

/** Pages of the log, and how many of them are in the database's own file. */
type Progress = { log: number; checkpointed: number }

/**
 * Copies in a thread of its own, since the disk may take seconds for it: most while other commits go on, and the rest while
 * the next transaction waits, as only a log that is copied whole begins anew. What was copied first is on the disk by then, or the
 * transaction would wait for all of it. Where somebody else reads the file, it may take a few rounds. The thread is started
 * when it is first needed.
 *
 * @param syncCopied settles when the disk has what was copied. When it fails, the log is kept as it is
 */
export function createCheckpoints(
  connection: DatabaseSync,
  filename: string,
  syncCopied: () => Promise<void>,
): Checkpoints {
  const progress = connection.prepare('PRAGMA wal_checkpoint(NOOP)')
  let thread: Worker | undefined
  let state: 'short' | 'copying' | 'nearly copied' = 'short'
  let nextAt = longestLog
  let transactions = 0
  return {
    async keepShort() {
      if (state === 'copying') return
      if (state === 'nearly copied') return copyRest()
      transactions += 1
      if (transactions % lookEvery === 0 && lengthOf() >= nextAt) startCopying()
    },
    async close() {
      await thread?.terminate()
    },
  }

  function lengthOf(): number {
    return (progress.get() as Progress).log
  }

  function startCopying(): void {
    state = 'copying'
    const isNearlyCopied = () => {
      state = 'nearly copied'
    }
    void copy()
      .then(syncCopied)
      .then(isNearlyCopied, () => {})
  }

  async function copyRest(): Promise<void> {
    const log = lengthOf()
    const copied = await copy()
    nextAt = copied !== undefined && copied.checkpointed === copied.log ? longestLog : log + longestLog
    state = 'short'
    transactions = 0
  }

  /** @returns `undefined` when it failed: what is not copied is still in the log */
  async function copy(): Promise<Progress | undefined> {
    thread ??= new Worker(new URL('checkpoint-thread.ts', import.meta.url), { workerData: filename })
    try {
      thread.ref()
      thread.postMessage('copy')
      const [copied] = await once(thread, 'message')
      return copied
    } catch {
      await thread.terminate()
      thread = undefined
      return undefined
    } finally {
      thread?.unref()
    }
  }
}
