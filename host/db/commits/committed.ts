import type { Knex } from 'knex'
import type { Db } from '../db.ts'

/** In the config of a transaction, for the client of either database. */
export type SettlesAtCommit = { settles: 'at commit' }

/**
 * A transaction that settles when it is committed, which is before the disk has it. The end of the process leaves it; a power cut may
 * undo it. Whoever must know waits for `Database.synced` after it.
 */
export const committed = <Result>(db: Db, run: (transaction: Db) => Promise<Result>): Promise<Result> =>
  db.transaction(run, { settles: 'at commit' } satisfies SettlesAtCommit as Knex.TransactionConfig)
