import { close, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { createCheckpoints } from './checkpoints.ts'
import { failedBefore, failedSync } from './sqlite-errors.ts'

/** The file that commits are written to before they reach the database's own (https://sqlite.org/wal.html). */
export type WriteAheadLog = {
  /** Settles when all that was committed is on the disk. */
  sync: () => Promise<void>
  /** Before a transaction begins: keeps the log from growing for ever. */
  keepShort: () => Promise<void>
  /** @throws when a sync has failed: nothing more is to be written */
  assertSound: () => void
  close: () => Promise<void>
}

const syncFile = promisify(fdatasync)

/**
 * Does for a connection with `synchronous = NORMAL` what `FULL` would do at each commit, and what `wal_autocheckpoint` would do
 * at some, and holds up nothing but the commit: a disk that takes its time must not stop the whole process, with all its
 * visitors. The log's own beginning is still synced by SQLite, once for some thousand commits.
 *
 * After a sync that failed nothing more is taken: the system may have forgotten what it could not write, and the next sync
 * would succeed without it.
 *
 * @param filename the database's
 */
export function openWriteAheadLog(connection: DatabaseSync, filename: string): WriteAheadLog {
  const file = openSync(`${filename}-wal`, 'r+')
  const checkpoints = createCheckpoints(connection, filename)
  let isSound = true
  let running: Promise<void> | undefined
  /** One that begins when it is done: what was committed since it began has that one in common. */
  let next: Promise<void> | undefined
  return {
    sync() {
      if (running === undefined) return begin()
      next ??= running.then(begin, begin)
      return next
    },
    keepShort: checkpoints.keepShort,
    assertSound() {
      if (!isSound) throw failedBefore()
    },
    async close() {
      await checkpoints.close()
      await promisify(close)(file)
    },
  }

  function begin(): Promise<void> {
    next = undefined
    const begun = syncNow().finally(() => {
      running = undefined
    })
    running = begun
    return begun
  }

  async function syncNow(): Promise<void> {
    if (!isSound) throw failedSync()
    try {
      await syncFile(file)
    } catch (error) {
      isSound = false
      throw failedSync(error)
    }
  }
}
