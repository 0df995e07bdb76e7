import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../host/db/db.ts'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { comeAfter } from '../../../host/db/queries/positions.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { claimAll } from '../../queue/support.ts'
import { planOf } from '../../support/query-plan.ts'
import { openSeeded } from '../../support/seeded-database.ts'

const owe = async (db: Db, n: number) => {
  const job = { kind: 'delivery', subject: { n }, lane: 'rcv_a', dueAt: 1, ordered: true } as const
  const [owed] = await insertJobs(db, [job])
  return owed?.id ?? ''
}

it('what is owed in order comes after what was owed before by a host, or at a time, whose clock was an hour ahead', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, close } = await openSeeded()
  ends.defer(close)
  const ids = [await owe(db, 1)]
  await db('jobs').update({ position: db.raw('position + 3600000000') })
  ids.push(await owe(db, 2))
  assert.deepEqual(await db('jobs').orderBy('position').pluck('id'), ids)
  if (isPostgres(db)) return
  // However much is owed there.
  const plan = await planOf(db, () => comeAfter(db, ['rcv_a']))
  assert.match(plan, /SEARCH jobs USING (COVERING )?INDEX jobs_in_order \(lane=\?\)/)
})

it('of what two hosts owe in order at the same time the one is claimed when the other one is done (PostgreSQL)', async (t) => {
  await using ends = new AsyncDisposableStack()
  const { db, close } = await openSeeded()
  ends.defer(close)
  if (!isPostgres(db)) return t.skip('one process owns an SQLite file')
  const seen: string[] = []
  let other = Promise.resolve('')
  await db.transaction(async (transaction) => {
    await owe(transaction, 1)
    other = db
      .transaction((second) => owe(second, 2))
      .then((id) => {
        seen.push('second')
        return id
      })
    // It would be there at once, be claimed, and not be the first one any more.
    await sleep(300)
    seen.push('first')
  })
  await other
  assert.deepEqual(seen, ['first', 'second'])
  assert.equal((await claimAll(db, 'delivery')).length, 1)
  assert.deepEqual(await claimAll(db, 'delivery'), [], 'one runs')
})
