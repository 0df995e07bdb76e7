import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCommits } from '../../host/db/commits/group-commit.ts'
import type { Clock } from '../../host/db/database-clock.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { beatHost } from '../../host/db/queries/hosts.ts'
import { insertJobs, type Job, type NewJob } from '../../host/db/queries/jobs.ts'
import { createDueJobs, type DueJobs } from '../../host/jobs/claim-due.ts'
import { createWorker, type Worker } from '../../host/jobs/create-worker.ts'
import { handleEach, type JobOutcome, stored } from '../../host/jobs/job-handler.ts'
import { createLanes } from '../../host/jobs/slots/lanes.ts'
import { createOwners } from '../../host/jobs/slots/owners.ts'
import { until } from '../support/annex.ts'
import { hurriedClock } from '../support/hurried-clock.ts'
import { createTestDatabase, noPostgres, type TestDatabase } from '../support/test-database.ts'

/** A job that was done, and whose worker's word for it counted. */
type Done = { hostId: string; id: string; lane: string }

const hostIds = ['host_1', 'host_2', 'host_3']

const hurry = 200
const hurried = (clock: Clock) => hurriedClock(clock, hurry)

describe('workers of several hosts on one PostgreSQL', { skip: noPostgres }, () => {
  let folder: string
  let made: TestDatabase
  /** One for each host: each has connections of its own. */
  let databases: Database[]
  let workers: Worker[]
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-workers-'))
    made = await createTestDatabase()
    databases = []
    workers = []
    for (const _ of hostIds) databases.push(await openDatabase(made.url, folder))
  })
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.close()))
    await Promise.all(databases.map((database) => database.close()))
    await made.drop()
    rmSync(folder, { recursive: true })
  })

  const first = () => databases[0] as Database
  const insert = (lane: string, count: number, given: Partial<NewJob> = {}) =>
    insertJobs(
      first().db,
      Array.from({ length: count }, (_, n) => ({
        ...{ kind: 'task' as const, subject: { n }, lane, dueAt: first().clock.now() },
        ...given,
      })),
    )
  const owed = () => first().db('jobs').select()
  const untilDone = () =>
    until(
      async () => (await owed()).length,
      (count) => count === 0,
    )
  const work = async (
    hostId: string,
    run: (job: Job, hostId: string) => Promise<JobOutcome>,
    perLane = 8,
    toClock = (clock: Clock) => clock,
  ): Promise<Worker> => {
    const database = databases[hostIds.indexOf(hostId)] as Database
    const worker = await createWorker({
      ...{ database, ...createCommits(database), clock: toClock(database.clock), hostId },
      random: Math.random,
      handlers: {
        task: handleEach((job) => run(job, hostId)),
      },
      concurrency: 16,
      lanes: { most: perLane, first: perLane },
      onDefect: (error) => assert.fail(String(error)),
    })
    workers.push(worker)
    return worker
  }
  const counted: Done[] = []
  beforeEach(() => void counted.splice(0))
  const note = async (_transaction: unknown, items: readonly Done[]) => {
    counted.push(...items)
    return []
  }
  const doneBy = (hostId: string, { id, lane }: Job): JobOutcome => ({
    move: { state: 'gone' },
    stores: [stored(note, { hostId, id, lane })],
  })

  it('do each job once, and share them', async () => {
    for (const lane of ['a', 'b', 'c', 'd', 'e', 'f']) await insert(lane, 100)
    const begun: string[] = []
    const busy = new Set<string>()
    const { promise: eachHasOne, resolve: allAreBusy } = Promise.withResolvers<void>()
    const run = async (job: Job, hostId: string) => {
      begun.push(job.id)
      busy.add(hostId)
      if (busy.size === hostIds.length) allAreBusy()
      await eachHasOne
      return doneBy(hostId, job)
    }
    await Promise.all(hostIds.map((hostId) => work(hostId, run)))
    await untilDone()
    assert.equal(begun.length, 600)
    assert.equal(new Set(begun).size, 600)
    assert.equal(new Set(counted.map(({ id }) => id)).size, 600)
  })

  it('take the lanes in turn, each of them', async () => {
    for (const lane of ['a', 'b', 'c']) await insert(lane, 120)
    const run = async (job: Job, hostId: string) => doneBy(hostId, job)
    await Promise.all(hostIds.map((hostId) => work(hostId, run)))
    await untilDone()
    // After a third of the work each lane has had about a third of it.
    for (const lane of ['a', 'b', 'c']) {
      const count = counted.slice(0, 120).filter((done) => done.lane === lane).length
      assert.ok(count >= 20, `${lane}: ${count} of the first 120`)
    }
  })

  it('let a lane that never ends take its own turns alone on each of them', async () => {
    await insert('slow', 500, { dueAt: first().clock.now() - 1_000 })
    await insert('quick', 60)
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const begun: string[] = []
    const run = async (job: Job, hostId: string) => {
      if (job.lane === 'slow') {
        begun.push(job.id)
        await isOver
        return { move: { state: 'waiting' as const, reason: 'enough' } }
      }
      return doneBy(hostId, job)
    }
    await Promise.all(hostIds.map((hostId) => work(hostId, run, 4)))
    await until(
      async () => counted.length,
      (count) => count === 60,
    )
    assert.ok(begun.length <= hostIds.length * 4, `${begun.length} of the slow lane`)
    end()
  })

  it('know when others were quicker at what they had read, and then find what is left', async () => {
    await insert('a', 20)
    const { db, clock } = first()
    const readersOf = () =>
      createDueJobs(
        'task',
        { lanes: createLanes({ most: 16, first: 16 }, Math.random), owners: createOwners(256) },
        handleEach(async () => ({ move: { state: 'gone' } })),
      )
    const claim = (reader: DueJobs, limit: number) =>
      reader.claim(db, {
        ...{ limit, atOnce: 16 },
        lease: { leaseId: randomUUID(), hostId: 'host', nowMs: clock.now(), leaseMs: 60_000 },
      })
    const [one, other] = [readersOf(), readersOf()]
    assert.equal((await claim(one, 1)).length, 1)
    assert.equal((await claim(other, 2)).length, 2)
    assert.deepEqual([(await claim(one, 5)).length, one.isContested()], [3, true])
    assert.deepEqual([(await claim(one, 2)).length, one.isContested()], [2, false])
    // Of what it holds the next six are gone: it does not come away with none.
    assert.equal((await claim(other, 3)).length, 3)
    assert.equal((await claim(other, 3)).length, 3)
    assert.deepEqual([(await claim(one, 4)).length, one.isContested()], [4, false])
    assert.equal((await claim(one, 16)).length + (await claim(other, 16)).length, 2)
  })

  it('keep the order of a lane that asks for it, whoever does the job', async () => {
    await insert('a', 40, { ordered: true })
    const seen: number[] = []
    let running = 0
    const run = async (job: Job, hostId: string) => {
      running += 1
      assert.equal(running, 1)
      seen.push(JSON.parse(job.subject).n)
      await sleep(2)
      running -= 1
      return doneBy(hostId, job)
    }
    await Promise.all(hostIds.map((hostId) => work(hostId, run)))
    await untilDone()
    assert.deepEqual(
      seen,
      seen.map((_, n) => n),
    )
    assert.equal(seen.length, 40)
  })

  /** Has a host begin all that is due, and come to no end with it before `end`. */
  const stall = async (hostId: string) => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const stalled: string[] = []
    const worker = await work(hostId, async (job) => {
      stalled.push(job.id)
      await isOver
      return doneBy(hostId, job)
    })
    await until(owed, (jobs) => jobs.every(({ state }) => state === 'running'))
    return { worker, stalled, end }
  }

  it('take over what a host that is gone had claimed, both at once, and what it says later counts no more', async () => {
    await insert('a', 6)
    await insert('b', 6)
    const { worker, stalled, end } = await stall('host_1')
    assert.equal(stalled.length, 12)
    const run = async (job: Job, hostId: string) => doneBy(hostId, job)
    const others = await Promise.all(['host_2', 'host_3'].map((hostId) => work(hostId, run)))
    await Promise.all(others.map((worker) => worker.takeOver(['host_1'])))
    await untilDone()
    end()
    await worker.close()
    assert.deepEqual(counted.map(({ id }) => id).toSorted(), stalled.toSorted())
    assert.ok(counted.every(({ hostId }) => hostId !== 'host_1'))
  })

  it('take over by and by what a host had claimed that is on no list of hosts', async () => {
    await insert('a', 6)
    const { stalled, end } = await stall('host_1')
    await work('host_2', async (job, hostId) => doneBy(hostId, job), 8, hurried)
    await untilDone()
    end()
    assert.deepEqual(counted.map(({ id }) => id).toSorted(), stalled.toSorted())
    assert.ok(counted.every(({ hostId }) => hostId === 'host_2'))
  })

  it('leave to a host that is on the list what it has had for longer than a lease, when others start, too', async () => {
    await insert('a', 4)
    await beatHost(first().db, { id: 'host_1', place: 'a', version: '1' })
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const run = async (job: Job, hostId: string) => {
      await isOver
      return doneBy(hostId, job)
    }
    await work('host_1', run)
    await until(owed, (jobs) => jobs.every(({ state }) => state === 'running'))
    const begun: string[] = []
    const runNow = async (job: Job, hostId: string) => {
      begun.push(job.lane)
      return doneBy(hostId, job)
    }
    await work('host_2', runNow, 8, hurried)
    // As long as three leases take, for those who hurry.
    await sleep((3 * 120_000) / hurry)
    const third = await work('host_3', runNow, 8, (clock) => ({
      ...clock,
      now: () => clock.now() + 10 * 120_000,
    }))
    await third.looked()
    assert.deepEqual(begun, [])
    end()
    await untilDone()
    assert.equal(counted.filter(({ hostId }) => hostId === 'host_1').length, 4)
  })

  it('do what one of them has claimed and knows nothing of, and keep what they have for longer than a lease', async () => {
    await insert('a', 2)
    await beatHost(first().db, { id: 'host_1', place: 'a', version: '1' })
    // The server has heard of the claim after its connection was lost, and its lease was given back.
    const lost = { state: 'running', attempt: 1, hostId: 'host_1', leaseId: 'lost' }
    await first()
      .db('jobs')
      .where({ subject: JSON.stringify({ n: 0 }) })
      .update({ ...lost, leaseUntil: first().clock.now() + 120_000 })
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const begun: [number, attempt: number, interruptions: number][] = []
    const run = async (job: Job, hostId: string) => {
      const { n } = JSON.parse(job.subject)
      begun.push([n, job.attempt, job.interruptions])
      if (n === 1) await isOver
      return doneBy(hostId, job)
    }
    await work('host_1', run, 8, hurried)
    await until(
      async () => counted.length,
      (count) => count === 1,
    )
    // As long as three leases take, for those who hurry.
    await sleep((3 * 120_000) / hurry)
    end()
    await untilDone()
    assert.deepEqual(begun, [
      [1, 1, 0],
      [0, 1, 0],
    ])
  })

  it('leave alone what a host has that is there', async () => {
    await insert('a', 4)
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const begun: string[] = []
    const run = async (job: Job, hostId: string) => {
      begun.push(job.id)
      await isOver
      return doneBy(hostId, job)
    }
    await work('host_1', run)
    await until(owed, (jobs) => jobs.every(({ state }) => state === 'running'))
    const other = await work('host_2', run)
    await other.takeOver(['host_3'])
    for (let looks = 0; looks < 10; looks++) {
      other.wake()
      await sleep(20)
    }
    end()
    await untilDone()
    assert.equal(begun.length, 4)
    assert.ok(counted.every(({ hostId }) => hostId === 'host_1'))
  })

  it('give back at their end what is still to be done, and the others do it at once', async () => {
    await insert('a', 40)
    const run = async (job: Job, hostId: string) => {
      await sleep(20)
      return doneBy(hostId, job)
    }
    const leaving = await work('host_1', run, 2)
    await until(
      async () => counted.length,
      (count) => count >= 2,
    )
    await leaving.close()
    assert.ok((await owed()).every(({ state }) => state === 'due'))
    await work('host_2', run)
    await untilDone()
    assert.equal(new Set(counted.map(({ id }) => id)).size, 40)
    assert.equal(counted.length, 40)
  })
})
