import { close, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { shareNext } from '../share-next.ts'
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
  const log = openSync(`${filename}-wal`, 'r+')
  // Open for as long as anything is stored: closing a file lets go of what SQLite has locked of it.
  const database = openSync(filename, 'r')
  const checkpoints = createCheckpoints(connection, filename, () => syncNow(database))
  let isSound = true
  return {
    sync: shareNext(() => syncNow(log)),
    keepShort: checkpoints.keepShort,
    assertSound() {
      if (!isSound) throw failedBefore()
    },
    async close() {
      await checkpoints.close()
      for (const file of [log, database]) await promisify(close)(file)
    },
  }

  async function syncNow(file: number): Promise<void> {
    if (!isSound) throw failedSync()
    try {
      await syncFile(file)
    } catch (error) {
      isSound = false
      throw failedSync(error)
    }
  }
}
