// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readCandidates } from '../../../host/db/queries/claims.ts'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { planOf, readRowsOf } from '../../support/query-plan.ts'
import { openSeeded } from '../../support/seeded-database.ts'

const perLane = 16
const due = 4_000

for (const kind of ['delivery', 'event', 'task'] as const) {
  it(`a claim reads a page of each lane, however many jobs are due: kind ${kind}`, async () => {
    await using ends = new AsyncDisposableStack()
    const { db, close } = await openSeeded()
    ends.defer(close)
    const lanes = ['early', 'late']
    const jobs = lanes.flatMap((lane, l) =>
      Array.from({ length: due }, (_, n) => ({ kind, subject: { n }, lane, dueAt: l * due + n })),
    )
    await insertJobs(db, jobs)
    // Every second one is a retry.
    await db('jobs').update({ attempt: db.raw('due_at % 2') })
    const claim = () =>
      readCandidates(db, kind, {
        after: '',
        without: [],
        retriesOnly: [],
        withoutOwners: [],
        perLane,
        limit: 1_000,
        nowMs: 2 * due,
      })
    const { candidates } = await claim()
    const pageFrom = (first: number) => Array.from({ length: perLane }, (_, n) => first + 2 * n)
    assert.deepEqual(
      candidates.map(({ dueAt }) => dueAt),
      [1, 0, due + 1, due].flatMap(pageFrom),
    )
    if (isPostgres(db)) {
      const { plan, read } = await readRowsOf(db, claim)
      assert.ok(Math.max(...read) <= candidates.length, plan)
    } else assert.doesNotMatch(await planOf(db, claim), /TEMP B-TREE/)
  })
}
