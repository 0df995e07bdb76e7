import assert from 'node:assert/strict'
import { it } from 'node:test'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { createDueJobs } from '../../host/jobs/claim-due.ts'
import { handleEach } from '../../host/jobs/job-handler.ts'
import { createLanes } from '../../host/jobs/lanes.ts'
import { openSeeded } from '../support/seeded-database.ts'

it('what piles up in a lane that does not get on leaves room for what others were handed, and is done in the end', async (t) => {
  const { db, close } = await openSeeded()
  t.after(close)
  const dueAt = Date.now() - 1_000
  const lanes = createLanes({ most: 4, first: 4 }, () => 0)
  const due = createDueJobs(
    'task',
    lanes,
    handleEach(async () => ({ move: { state: 'gone' } })),
  )
  let leases = 0
  const claim = async () => {
    leases += 1
    const lease = { leaseId: `lease_${leases}`, hostId: 'host_1', nowMs: Date.now(), leaseMs: 60_000 }
    const begun = await db.transaction((transaction) => due.claim(transaction, 64, lease))
    return begun.map(({ job }) => job)
  }
  const owe = async (lane: string, count: number) => {
    const jobs = await insertJobs(
      db,
      Array.from({ length: count }, () => ({ kind: 'task' as const, subject: {}, lane, dueAt })),
    )
    for (const job of jobs) due.lookAgain(lane, { job, loaded: undefined })
    return jobs
  }
  // It knows now that nothing else is due.
  assert.deepEqual(await claim(), [])
  for (let n = 0; n < 4; n++) lanes.enter('dead')
  const piled = await owe('dead', 4_200)
  const [first] = await owe('well', 1)
  let readings = 0
  db.on('query', ({ sql }) => {
    if (sql.includes('with recursive')) readings += 1
  })
  assert.deepEqual(
    (await claim()).map(({ id }) => id),
    [first?.id],
  )
  assert.equal(readings, 0, 'it was at hand')

  for (let n = 0; n < 4; n++) lanes.leave('dead', 'good', Date.now())
  const done = new Set<string>()
  for (let jobs = await claim(); jobs.length > 0; jobs = await claim())
    for (const { id } of jobs) done.add(id)
  assert.deepEqual(done, new Set(piled.map(({ id }) => id)))
})
