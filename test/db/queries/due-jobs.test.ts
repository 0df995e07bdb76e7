import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../../host/db/open-database.ts'
import { claimJobs, nextDueAt, readDueJobs } from '../../../host/db/queries/claims.ts'
import { insertJobs, type JobKind } from '../../../host/db/queries/jobs.ts'
import { isPostgres } from '../../../host/db/rows/json-rows.ts'
import { lastOf, planOf, readRowsOf } from '../../support/query-plan.ts'
import { openSeeded } from '../../support/seeded-database.ts'
import { createTestDatabase, noPostgres } from '../../support/test-database.ts'

const without = ['lane-03']

it('due jobs are read lane after lane, the longest due first in each, until there are enough', async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-due-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const made = await createTestDatabase()
  ends.defer(made.drop)
  const { db, close } = await openDatabase(made.url, folder)
  ends.defer(close)
  const lanes = Array.from({ length: 10 }, (_, n) => `lane-${String(n).padStart(2, '0')}`)
  // Owed in one order, and due in the other.
  const jobs = lanes.flatMap((lane) =>
    [5, 4, 3, 2, 1].map((dueAt) => ({ kind: 'task' as const, subject: {}, lane, dueAt })),
  )
  await insertJobs(db, jobs)
  const read = async (after: string, limit: number) => {
    const found = await readDueJobs(db, 'task', { after, without, perLane: 4, limit, nowMs: 4 })
    return found.map(({ lane, dueAt }) => `${lane} ${dueAt}`)
  }
  const all = (lane: string) => [1, 2, 3, 4].map((dueAt) => `${lane} ${dueAt}`)
  assert.deepEqual(await read('', 6), [...all('lane-00'), 'lane-01 1', 'lane-01 2'])
  assert.deepEqual(await read('lane-01', 6), [...all('lane-02'), 'lane-04 1', 'lane-04 2'])
  assert.deepEqual(await read('lane-08', 10), [
    ...all('lane-09'),
    ...all('lane-00'),
    'lane-01 1',
    'lane-01 2',
  ])
})

it('due jobs of lanes that are not needed are not read (SQLite)', async (t) => {
  const { db, close } = await openDatabase('sqlite::memory:', '')
  t.after(close)
  for (const after of ['', 'lane']) {
    const given = { after, without, perLane: 4, limit: 6, nowMs: 4 }
    const plan = await planOf(db, () => readDueJobs(db, 'delivery', given))
    assert.match(
      plan,
      /SCAN (lanes|ahead),LIST SUBQUERY.*SEARCH found USING INDEX sqlite_autoindex_jobs_1 \(id=\?\)/,
    )
    assert.match(
      plan,
      /SEARCH jobs USING INDEX jobs_due_by_lane \(kind=\? AND lane=\? AND ordered=\? AND due_at<\?\)/,
    )
    assert.match(plan, /CO-ROUTINE first,SEARCH jobs USING INDEX jobs_in_order \(lane=\?\)/)
    // Whatever is sorted is read to its end before.
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})

it('when the next job comes due is found in an index of just these, however much is owed (SQLite)', async (t) => {
  const { db, close } = await openDatabase('sqlite::memory:', '')
  t.after(close)
  const plans: Record<string, string> = {}
  for (const kind of ['delivery', 'event', 'task'] satisfies JobKind[]) {
    plans[kind] = await planOf(db, () => nextDueAt(db, kind, 5))
  }
  assert.deepEqual(plans, {
    delivery: 'SEARCH jobs USING INDEX jobs_later (kind=? AND due_at>?)',
    event: 'SEARCH jobs USING COVERING INDEX jobs_due (kind=? AND due_at>?)',
    task: 'SEARCH jobs USING COVERING INDEX jobs_due (kind=? AND due_at>?)',
  })
})

it('of a lane that keeps its order the first is found, and those after it are not read', async (t) => {
  const seeded = await openSeeded()
  t.after(seeded.close)
  const { db } = seeded
  const job = { kind: 'delivery', subject: {}, lane: 'a' } as const
  const [first] = await insertJobs(db, [{ ...job, dueAt: 3, ordered: true }])
  // PostgreSQL has no statistics of these.
  await insertJobs(db, Array(2_000).fill({ ...job, dueAt: 1, ordered: true }))
  const loose = await insertJobs(db, Array(3).fill({ ...job, dueAt: 2 }))
  const read = async (nowMs: number) => {
    const given = { after: '', without: [], perLane: 2, limit: 10, nowMs }
    return (await readDueJobs(db, 'delivery', given)).map(({ id }) => id)
  }
  assert.deepEqual(await read(1), [], 'nothing overtakes the first, which is not due')
  assert.deepEqual(
    await read(2),
    loose.slice(0, 2).map(({ id }) => id),
    'but what keeps no order',
  )
  const look = async () => assert.ok((await read(3)).includes(first?.id ?? ''))
  await look()
  if (!isPostgres(db)) return
  const rows = await readRowsOf(db, look)
  assert.ok(rows.read.length > 5 && rows.read.every((count) => count < 10), rows.plan)
})

it('claims look each job up by itself, however far the statistics are behind (PostgreSQL)', {
  skip: noPostgres,
}, async (t) => {
  const made = await createTestDatabase()
  const { db, close } = await openDatabase(made.url, '')
  const client = new pg.Client(made.url)
  await client.connect()
  t.after(async () => {
    await client.end()
    await close()
    await made.drop()
  })
  const owed = Array.from({ length: 2_000 }, () => ({
    kind: 'task' as const,
    subject: {},
    lane: 'a',
    dueAt: 1,
  }))
  await insertJobs(db, owed)
  await db.raw('analyze jobs')
  const given = { after: '', without: [], perLane: 200, limit: 200, nowMs: 4 }
  const jobs = await readDueJobs(db, 'task', given)
  const lease = { leaseId: 'lease', hostId: 'host', nowMs: 4, leaseMs: 1_000 }
  const { sql, bindings } = await lastOf(db, async () => {
    assert.equal((await claimJobs(db, jobs.slice(0, 100), lease)).size, 100)
  })
  const { rows } = await client.query(`explain ${sql}`, [...bindings])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.match(plan, /Index Scan using jobs_pkey on jobs .*Index Cond: \(id = /s)
  assert.match(plan, /Tid Scan on jobs/)
  assert.doesNotMatch(plan, /Seq Scan/)
  assert.equal((await claimJobs(db, jobs, lease)).size, 100, 'those that are claimed are not claimed again')
})
