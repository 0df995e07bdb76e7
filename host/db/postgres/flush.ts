import type { Db } from '../db.ts'
import { shareNext } from '../share-next.ts'

/**
 * For what was committed on PostgreSQL without a wait for the disk.
 *
 * @returns settles when the disk of the server, and of a standby that it waits for, has all that was committed before the call
 */
export const createFlush = (db: Db): (() => Promise<void>) =>
  shareNext(async () => {
    // A commit waits for all of the log before its own place in it. A message is the least that it can be a commit of.
    await db.raw(`select pg_logical_emit_message(true, 'annex', '')`)
  })
