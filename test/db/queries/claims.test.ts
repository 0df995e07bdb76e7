// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Db } from '../../../host/db/db.ts'
import { leaseJobs, readCandidates } from '../../../host/db/queries/claims.ts'
import { insertJobs, moveJobs } from '../../../host/db/queries/jobs.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { planOf, readRowsOf } from '../../support/query-plan.ts'
import { openSeeded } from '../../support/seeded-database.ts'

const perLane = 16
const due = 4_000
const pageAt = (nowMs: number): Parameters<typeof readCandidates>[2] => ({
  ...{ after: '', without: [], retriesOnly: [], withoutOwners: [] },
  ...{ perLane, limit: 1_000, nowMs },
})

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
    const claim = () => readCandidates(db, kind, pageAt(2 * due))
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

/** What PostgreSQL knows of the table `jobs` before a burst. */
const statistics = {
  'of a new table': async () => {},
  'of an emptied table': async (db: Db) => {
    await storeJobs(db, 2_000)
    await db('jobs').del()
    await db.raw('vacuum (truncate off, analyze) jobs')
  },
  'of a table with a few jobs': async (db: Db) => {
    await storeJobs(db, 2_000)
    await db('jobs').where('dueAt', '>=', 10).del()
    await db.raw('vacuum (truncate off, analyze) jobs')
  },
}

for (const [which, prepare] of Object.entries(statistics)) {
  it(`a commit reads the rows of its jobs alone: statistics ${which} (PostgreSQL)`, async (t) => {
    await using ends = new AsyncDisposableStack()
    const { db, close } = await openSeeded()
    ends.defer(close)
    if (!isPostgres(db)) return t.skip('SQLite has no such statistics')
    await prepare(db)
    const stored = await storeJobs(db, due)
    const some = stored.slice(0, 70).map(({ id }) => ({ id, leaseId: 'lease_1' }))
    const ids = some.map(({ id }) => id)
    const lease = { leaseId: 'lease_1', hostId: 'host_1', nowMs: due, leaseMs: 1_000 }
    const later = { state: 'due', dueAtMs: due, reason: 'refused' } as const
    const statements = [
      () => readCandidates(db, 'delivery', pageAt(due)),
      () => leaseJobs(db, ids, lease),
      () =>
        moveJobs(
          db,
          some.map((one) => ({ ...one, move: later })),
          due,
        ),
      () => leaseJobs(db, ids, lease),
      () =>
        moveJobs(
          db,
          some.map((one) => ({ ...one, move: { state: 'gone' } })),
          due,
        ),
    ]
    for (const statement of statements) {
      const { plan, read } = await readRowsOf(db, statement)
      assert.ok(Math.max(...read) <= 5 * perLane, plan)
    }
  })
}

/** Jobs of five lanes. */
const storeJobs = (db: Db, count: number) =>
  insertJobs(
    db,
    Array.from({ length: count }, (_, n) => ({
      ...({ kind: 'delivery', subject: { n }, lane: `rcv_${n % 5}`, dueAt: n } as const),
    })),
  )
