// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../host/db/db.ts'
import { comeAfter, insertJobs } from '../../../host/db/queries/jobs.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { claimAll } from '../../queue/support.ts'
import { planOf } from '../../support/query-plan.ts'
import { openSeeded } from '../../support/seeded-database.ts'

const queueOne = async (db: Db, n: number) => {
  const job = { kind: 'delivery', subject: { n }, lane: 'rcv_a', dueAt: 1, ordered: true } as const
  const [queued] = await insertJobs(db, [job])
  return queued?.id ?? ''
}

it('an ordered job follows an earlier job whose clock was an hour ahead', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, close } = await openSeeded()
  ends.defer(close)
  const ids = [await queueOne(db, 1)]
  await db('jobs').update({ position: db.raw('position + 3600000000') })
  ids.push(await queueOne(db, 2))
  assert.deepEqual(await db('jobs').orderBy('position').pluck('id'), ids)
  if (isPostgres(db)) return
  // The plan is the same for a lane with many jobs.
  const plan = await planOf(db, () => comeAfter(db, ['rcv_a']))
  assert.match(plan, /SEARCH jobs USING (COVERING )?INDEX jobs_in_order \(lane=\?\)/)
})

it('two hosts store jobs of one ordered lane one after the other (PostgreSQL)', async (t) => {
  await using ends = new AsyncDisposableStack()
  const { db, close } = await openSeeded()
  ends.defer(close)
  if (!isPostgres(db)) return t.skip('one process owns an SQLite file')
  const seen: string[] = []
  let other = Promise.resolve('')
  await db.transaction(async (transaction) => {
    await queueOne(transaction, 1)
    other = db
      .transaction((second) => queueOne(second, 2))
      .then((id) => {
        seen.push('second')
        return id
      })
    // Without the lock the second job would be stored now, and claimed first.
    await sleep(300)
    seen.push('first')
  })
  await other
  assert.deepEqual(seen, ['first', 'second'])
  assert.equal((await claimAll(db, 'delivery')).length, 1)
  assert.deepEqual(await claimAll(db, 'delivery'), [], 'one runs')
})
