import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCommits } from '../../../host/db/commits/group-commit.ts'
import type { Db } from '../../../host/db/db.ts'
import { claimJobs } from '../../../host/db/queries/claims.ts'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { openSeeded } from '../../support/seeded-database.ts'
import { noPostgres } from '../../support/test-database.ts'

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

  it('is not waited for where it is a claim, and is for what comes after it on the same connection', async () => {
    const { database, close } = await openSeeded()
    const { db } = database
    const ask = async (what: string): Promise<string> => (await db.raw(`select ${what} as told`)).rows[0].told
    const placeOf = async (lsn: string) => Number(await ask(`${lsn} - '0/0'`))
    try {
      const count = 200
      let early = 0
      for (let round = 0; round < 20; round += 1) {
        const jobs = Array.from({ length: count }, () => ({
          kind: 'task' as const,
          subject: {},
          lane: 'one',
          dueAt: 1,
        }))
        const due = await insertJobs(db, jobs)
        const connection = await ask('pg_backend_pid()')
        const before = await placeOf('pg_current_wal_insert_lsn()')
        const lease = { leaseId: `lease-${round}`, hostId: 'host_1', nowMs: 2, leaseMs: 1_000 }
        assert.equal((await claimJobs(db, due, lease)).size, count)
        // The claim's own part of the log is longer than that.
        if ((await placeOf('pg_current_wal_flush_lsn()')) < before + 50 * count) early += 1
        assert.equal(await ask(`current_setting('synchronous_commit')`), 'on')
        assert.equal(await ask('pg_backend_pid()'), connection)
      }
      assert.ok(early > 0)
    } finally {
      await close()
    }
  })
})
