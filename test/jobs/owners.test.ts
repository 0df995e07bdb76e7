import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type DueJob, insertJobs } from '../../host/db/queries/jobs.ts'
import { createDueJobs } from '../../host/jobs/claim-due.ts'
import { handleEach } from '../../host/jobs/job-handler.ts'
import { createLanes } from '../../host/jobs/slots/lanes.ts'
import { createOwners } from '../../host/jobs/slots/owners.ts'
import { openSeeded } from '../support/seeded-database.ts'

it('no owner has more turns than it leaves free for the others, however many there are', () => {
  const owners = createOwners(16)
  const enter = (owner: string, count: number) => {
    for (let n = 0; n < count; n++) owners.enter(owner, 1)
  }
  assert.equal(owners.roomOf('a'), 8)
  enter('a', 8)
  assert.deepEqual([owners.roomOf('a'), owners.roomOf('b')], [0, 4])
  enter('b', 4)
  assert.deepEqual([owners.roomOf('b'), owners.roomOf('c')], [0, 2])
  for (let n = 0; n < 8; n++) owners.leave('a', 1)
  assert.deepEqual([owners.roomOf('a'), owners.roomOf('b')], [6, 4])
})

it('a job with much text counts for several, and is claimed where others leave little room for it', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db } = seeded
  const dueAt = Date.now() - 1_000
  const large = { text: 'x'.repeat(4 * 65_536) }
  const owed = Array.from({ length: 30 }, () => ({
    kind: 'task' as const,
    subject: large,
    lane: 'hog',
    dueAt,
  }))
  await insertJobs(db, owed)
  const owners = createOwners(64)
  const handler = handleEach(async () => ({ move: { state: 'gone' } }))
  const due = createDueJobs('task', { lanes: createLanes({ most: 64, first: 64 }, () => 0), owners }, handler)
  const claim = async () => {
    const lease = { leaseId: 'lease_1', hostId: 'host_1', nowMs: Date.now(), leaseMs: 60_000 }
    const begun = await db.transaction((transaction) =>
      due.claim(transaction, { limit: 32, atOnce: 64, lease }),
    )
    for (const { owner, units } of begun) owners.enter(owner, units)
    return begun
  }
  const begun = await claim()
  // Five each: with the seventh it has half of all, and a little more.
  assert.deepEqual(
    begun.map(({ units }) => units),
    Array(7).fill(5),
  )
  // It was too long to be read ahead.
  for (const { job } of begun) assert.equal(job.subject, JSON.stringify(large))
  assert.deepEqual(await claim(), [])
  owners.enter('others', 25)
  owners.leave('hog', 35)
  assert.equal((await claim()).length, 4)
})

it('of an installation with thousands of endpoints some are read, and then it is passed over until they are done', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, installationId: hog } = seeded
  const { installationId: quiet } = await seeded.addOrganization('other')
  const endpoints = Array.from({ length: 2_500 }, (_, n) => `ep_${String(n).padStart(4, '0')}`)
  const ownerOf = (lane: string) => (lane === 'ep_quiet' ? quiet : hog)
  const row = (id: string) => ({
    ...{ id, installationId: ownerOf(id), signedBy: 'installation', url: `http://${id}.example/` },
    ...{ state: 'active', ordered: false, createdAt: 0, updatedAt: 0 },
  })
  await db.batchInsert('endpoints', [...endpoints, 'ep_quiet'].map(row), 100)
  const dueAt = Date.now() - 1_000
  const owe = (lanes: string[]) =>
    insertJobs(
      db,
      lanes.map((lane) => ({ kind: 'delivery' as const, subject: {}, lane, dueAt })),
    )
  await owe([...endpoints, 'ep_quiet'])
  const read = new Set<string>()
  const owners = createOwners(64)
  const due = createDueJobs(
    'delivery',
    { lanes: createLanes({ most: 4, first: 4 }, () => 0), owners },
    {
      ...handleEach(async () => ({ move: { state: 'gone' } })),
      async load(_db, jobs: readonly DueJob[]) {
        for (const { lane } of jobs) read.add(lane)
        return jobs.map(({ lane }) => ownerOf(lane))
      },
      ownerOf: (owner) => owner as string,
    },
  )
  let leases = 0
  const claim = async () => {
    leases += 1
    const lease = { leaseId: `lease_${leases}`, hostId: 'host_1', nowMs: Date.now(), leaseMs: 60_000 }
    return db.transaction((transaction) => due.claim(transaction, { limit: 32, atOnce: 64, lease }))
  }

  // Nothing of it ends.
  const begun: string[] = []
  for (let n = 0; n < 6; n++) {
    for (const { job, owner, units } of await claim()) {
      owners.enter(owner, units)
      begun.push(job.lane)
    }
  }
  assert.ok(begun.includes('ep_quiet'))
  assert.equal(begun.filter((lane) => lane !== 'ep_quiet').length, 32)
  assert.ok(read.size <= 1_100, `${read.size} were read`)

  // And now all does: each comes to its turn.
  for (const lane of begun) owners.leave(ownerOf(lane), 1)
  const done = new Set(begun)
  for (let claimed = await claim(); claimed.length > 0; claimed = await claim())
    for (const { job } of claimed) done.add(job.lane)
  assert.equal(done.size, endpoints.length + 1)
})
