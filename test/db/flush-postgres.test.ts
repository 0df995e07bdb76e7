import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Db } from '../../host/db/db.ts'
import { createCommits } from '../../host/db/group-commit.ts'
import { openSeeded } from '../support/seeded-database.ts'
import { noPostgres } from '../support/test-database.ts'

describe('what is stored on PostgreSQL', { skip: noPostgres }, () => {
  it('is on its disk when whoever stored it is told so, and may be read before', async () => {
    const { database, close } = await openSeeded()
    const { db } = database
    try {
      await db.raw('create table numbers (number integer)')
      const { commits } = createCommits(database)
      // Its place in the log is before that of the commit; what others write to the log has theirs between.
      const store = async (transaction: Db, items: readonly number[]): Promise<bigint[]> => {
        await transaction('numbers').insert(items.map((number) => ({ number })))
        const { rows } = await transaction.raw(`select pg_current_wal_insert_lsn() - '0/0' as place`)
        return items.map(() => BigInt(rows[0].place))
      }
      for (let number = 0; number < 20; number += 1) {
        const { promise, resolve } = Promise.withResolvers<Promise<unknown[]>>()
        const stored = commits.store(store, number, () => resolve(db('numbers').where({ number })))
        assert.equal((await await promise).length, 1)
        const place = await stored
        const { rows } = await db.raw(`select pg_current_wal_flush_lsn() - '0/0' as place`)
        assert.ok(BigInt(rows[0].place) >= place)
      }
      await commits.close()
    } finally {
      await close()
    }
  })
})
