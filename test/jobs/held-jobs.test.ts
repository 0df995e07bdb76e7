import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { createDueJobs, type DueJobs } from '../../host/jobs/claim-due.ts'
import { handleEach } from '../../host/jobs/job-handler.ts'
import { createLanes, type LaneRules, type Lanes } from '../../host/jobs/slots/lanes.ts'
import { createOwners } from '../../host/jobs/slots/owners.ts'
import { openSeeded } from '../support/seeded-database.ts'

describe('due jobs at hand', () => {
  let seeded: Awaited<ReturnType<typeof openSeeded>>
  let lanes: Lanes
  let due: DueJobs
  let leases = 0
  let readings = 0
  beforeEach(async () => {
    seeded = await openSeeded()
    readings = 0
    seeded.db.on('query', ({ sql }) => {
      if (sql.includes('with recursive')) readings += 1
    })
  })
  afterEach(() => seeded.close())

  const begin = (rules: LaneRules, kind: 'task' | 'delivery' = 'task') => {
    lanes = createLanes(rules, () => 0)
    due = createDueJobs(
      kind,
      { lanes, owners: createOwners(8_192) },
      handleEach(async () => ({ move: { state: 'gone' } })),
    )
  }
  const claim = async (limit = 64, atOnce = 64) => {
    leases += 1
    const lease = { leaseId: `lease_${leases}`, hostId: 'host_1', nowMs: Date.now(), leaseMs: 60_000 }
    const begun = await seeded.db.transaction((transaction) =>
      due.claim(transaction, { limit, atOnce, lease }),
    )
    return begun.map(({ job }) => job)
  }
  const owe = async (lane: string, count: number, length = 2) => {
    const dueAt = Date.now() - 1_000
    const given = Array.from({ length: count }, () => ({ kind: 'task' as const, subject: {}, lane, dueAt }))
    const jobs = await insertJobs(seeded.db, given)
    for (const job of jobs) due.lookAgain(lane, { job, loaded: undefined, length })
    return jobs
  }
  /** Begins jobs of a lane that go well, and `left` of them are not over. */
  const run = (lane: string, count: number, left: number) => {
    for (let n = 0; n < count; n++) lanes.enter(lane)
    for (let n = left; n < count; n++) lanes.leave(lane, 'good', Date.now())
  }

  /** Owes a job that is claimed next, without being read. */
  const isAtHand = async (lane: string) => {
    const [owed] = await owe(lane, 1)
    const readBefore = readings
    const claimed = await claim()
    assert.deepEqual(
      claimed.map(({ id }) => id),
      [owed?.id],
    )
    assert.equal(readings, readBefore, 'it was at hand')
  }

  it('that pile up in a lane that does not get on leave room for what others were handed, and are done in the end', async () => {
    begin({ most: 64, first: 64 })
    // It knows now that nothing else is due.
    assert.deepEqual(await claim(), [])
    run('dead', 64, 64)
    // More text than is kept in memory.
    const piled = await owe('dead', 4_200, 4_000)
    await isAtHand('well')

    for (let n = 0; n < 64; n++) lanes.leave('dead', 'good', Date.now())
    const done = new Set<string>()
    for (let jobs = await claim(); jobs.length > 0; jobs = await claim())
      for (const { id } of jobs) done.add(id)
    assert.deepEqual(done, new Set(piled.map(({ id }) => id)))
    assert.ok(readings > 20, 'most of them were not kept')
  })

  it('and neither do they when they are short and many', async () => {
    begin({ most: 64, first: 64 })
    assert.deepEqual(await claim(), [])
    run('dead', 64, 64)
    const [job] = await owe('dead', 1)
    assert.ok(job !== undefined)
    for (let n = 0; n < 16_400; n++)
      due.lookAgain('dead', { job: { ...job, id: `job_${n}` }, loaded: undefined, length: 2 })
    await isAtHand('well')
  })

  it('are not all there are of a lane of which a part was read: the rest is done, too', async () => {
    begin({ most: 64, first: 64 })
    const names = Array.from({ length: 9 }, (_, n) => `lane ${n}`)
    const dueAt = Date.now() - 1_000
    // 512 are read at once: of the ninth lane about half.
    const given = names.flatMap((lane) =>
      Array.from({ length: 60 }, () => ({ kind: 'task' as const, subject: {}, lane, dueAt })),
    )
    await insertJobs(seeded.db, given)
    let { length: count } = await claim(1)
    run('lane 8', 64, 64)
    for (let jobs = await claim(); jobs.length > 0; jobs = await claim()) count += jobs.length
    assert.equal(count, 480)
    for (let n = 0; n < 64; n++) if (lanes.leave('lane 8', 'good', Date.now())) due.hasRoom('lane 8')
    for (let jobs = await claim(); jobs.length > 0; jobs = await claim()) count += jobs.length
    assert.equal(count, 540)
  })

  it('of a lane that does not get on are claimed up to its even share, while others can make use of the rest', async () => {
    begin({ most: 16, first: 2 })
    assert.deepEqual(await claim(), [])
    run('dead', 20, 0)
    await owe('dead', 30)
    for (let n = 0; n < 9; n++) await owe(`well ${n}`, 8)
    const begun = { dead: 0, well: 0 }
    // Whoever is well is done at once; of the other nothing ends.
    for (let round = 0; round < 9; round++) {
      for (const { lane } of await claim(8, 20)) {
        begun[lane === 'dead' ? 'dead' : 'well'] += 1
        lanes.enter(lane)
        if (lane !== 'dead') lanes.leave(lane, 'good', Date.now())
      }
    }
    assert.deepEqual(begun, { dead: 2, well: 70 })
    // Now there is nobody else for most of it.
    const rest = (await claim(32, 20)).map(({ lane }) => lane)
    assert.equal(rest.filter((lane) => lane === 'dead').length, 14)
    assert.equal(rest.length, 16)
  })

  it('of a lane that is not held have their turn beside many that are', async () => {
    begin({ most: 16, first: 16 })
    assert.deepEqual(await claim(), [])
    for (let n = 0; n < 4; n++) await owe(`busy ${n}`, 400)
    // As for a retry that has come due, or what another host was owed: somebody knows of it, and the host holds nothing of it.
    const dueAt = Date.now() - 500
    await insertJobs(seeded.db, [{ kind: 'task', subject: {}, lane: 'quiet', dueAt }])
    due.lookAgain()
    const claimed = await claim(32)
    assert.equal(claimed.length, 32)
    assert.ok(claimed.some(({ lane }) => lane === 'quiet'))
    const readBefore = readings
    for (let n = 0; n < 10; n++) assert.equal((await claim(32)).length, 32)
    assert.equal(readings, readBefore, 'nothing is read while nobody knows of anything else')
  })

  it('are read beside many that are held, but no more of them than can be used soon', async () => {
    begin({ most: 16, first: 16 })
    assert.deepEqual(await claim(), [])
    await owe('busy', 4_000)
    const dueAt = Date.now() - 500
    const others = Array.from({ length: 30 }, (_, n) => `other ${n}`)
    const given = others.flatMap((lane) => Array.from({ length: 50 }, () => lane))
    await insertJobs(
      seeded.db,
      given.map((lane) => ({ kind: 'task' as const, subject: {}, lane, dueAt })),
    )
    due.lookAgain()
    const readBefore = readings
    for (let n = 0; n < 10; n++) await claim(16)
    assert.ok(readings - readBefore <= 6, `${readings - readBefore} statements`)
  })

  it('that were left in the table have their turn beside a lane that is handed one after the other', async () => {
    begin({ most: 16, first: 16 })
    const dueAt = Date.now() - 500
    const given = Array.from({ length: 100 }, () => ({
      kind: 'task' as const,
      subject: {},
      lane: 'left',
      dueAt,
    }))
    await insertJobs(seeded.db, given)
    // 64 of them are read.
    let ofLeft = (await claim(1)).length
    await owe('busy', 600)
    for (let n = 0; n < 25; n++) {
      const claimed = await claim(16)
      assert.equal(claimed.length, 16)
      ofLeft += claimed.filter(({ lane }) => lane === 'left').length
    }
    assert.equal(ofLeft, 100)
  })

  it('are found that came due while a claim that had begun before was reading', async () => {
    begin({ most: 16, first: 16 }, 'delivery')
    const nowMs = Date.now()
    await insertJobs(seeded.db, [{ kind: 'delivery', subject: {}, lane: 'late', dueAt: nowMs - 5_000 }])
    const lease = { leaseId: 'lease_early', hostId: 'host_1', nowMs: nowMs - 10_000, leaseMs: 60_000 }
    const early = seeded.db.transaction((transaction) => {
      const claiming = due.claim(transaction, { limit: 16, atOnce: 16, lease })
      due.lookAgain('late')
      return claiming
    })
    assert.deepEqual(await early, [])
    assert.equal((await claim()).length, 1)
  })

  it('of a transaction that did not come about are read anew: the one before it in its order is there again', async () => {
    begin({ most: 1, first: 1 })
    const dueAt = Date.now() - 1_000
    const given = { kind: 'task' as const, subject: {}, lane: 'in order', dueAt, ordered: true }
    const [first] = await insertJobs(seeded.db, [given, given])
    const lease = { leaseId: 'lease_lost', hostId: 'host_1', nowMs: Date.now(), leaseMs: 60_000 }
    lanes.enter('in order')
    const lost = seeded.db.transaction(async (transaction) => {
      await transaction('jobs').where({ id: first?.id }).delete()
      lanes.leave('in order', 'good', Date.now())
      // It reads the second one, has no turn for it, and nothing of this is stored.
      await due.claim(transaction, { limit: 0, atOnce: 16, lease })
      throw new Error('the disk is full')
    })
    await assert.rejects(lost, /full/)
    due.startOver()
    assert.deepEqual(
      (await claim()).map(({ id }) => id),
      [first?.id],
    )
  })

  it('of a lane with room for one are found though the first that it is handed is another one’s already', async () => {
    begin({ most: 1, first: 1 })
    assert.deepEqual(await claim(), [])
    const [taken, next] = await owe('narrow', 2)
    await seeded.db('jobs').where({ id: taken?.id }).update({ state: 'running' })
    assert.deepEqual(
      (await claim()).map(({ id }) => id),
      [next?.id],
    )
  })
})
