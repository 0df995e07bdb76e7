import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'
import { readDueJobs } from '../../host/db/queries/claims.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { createTestDatabase } from '../support/test-database.ts'

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
  const asked: { sql: string; bindings: unknown[] }[] = []
  db.on('query', (query) => asked.push(query))
  for (const after of ['', 'lane']) {
    await readDueJobs(db, 'delivery', { after, without, perLane: 4, limit: 6, nowMs: 4 })
    const { sql = '', bindings = [] } = asked.at(-1) ?? {}
    const steps = await db.raw(`explain query plan ${sql}`, bindings as never)
    const plan: string = steps.map(({ detail }: { detail: string }) => detail).join()
    assert.match(
      plan,
      /SCAN (lanes|ahead),LIST SUBQUERY.*SEARCH found USING INDEX sqlite_autoindex_jobs_1 \(id=\?\)/,
    )
    assert.match(plan, /SEARCH due USING INDEX jobs_due_by_lane \(kind=\? AND lane=\? AND due_at<\?\)/)
    // Whatever is sorted is read to its end before.
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
})
