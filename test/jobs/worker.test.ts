import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Commits, createCommits, type GroupCommit } from '../../host/db/commits/group-commit.ts'
import { type Clock, systemClock } from '../../host/db/database-clock.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { endClaims } from '../../host/db/queries/claims.ts'
import { insertJobs, type Job, mostInterruptions, type NewJob } from '../../host/db/queries/jobs.ts'
import { createWorker, type Worker } from '../../host/jobs/create-worker.ts'
import { handleEach, type JobHandler, type JobOutcome, stored } from '../../host/jobs/job-handler.ts'
import { until } from '../support/annex.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

describe('a worker', () => {
  let folder: string
  let made: TestDatabase
  let database: Database
  let workers: Worker[]
  beforeEach(async () => {
    workers = []
    folder = mkdtempSync(join(tmpdir(), 'annex-worker-'))
    made = await createTestDatabase()
    database = await openDatabase(made.url, folder)
  })
  // A worker of a test that has failed would keep this process for ever.
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.close()))
    await database.close()
    await made.drop()
    rmSync(folder, { recursive: true })
  })

  const insert = (lane: string, count: number, given: Partial<NewJob> = {}) =>
    insertJobs(
      database.db,
      Array.from({ length: count }, (_, n) => ({
        ...{ kind: 'task' as const, subject: { n }, lane, dueAt: Date.now() },
        ...given,
      })),
    )
  const owed = () => database.db('jobs').select()
  const isEmpty = (rows: unknown[]) => rows.length === 0
  const gone: JobOutcome = { move: { state: 'gone' } }
  const work = async (
    run: (job: Job) => Promise<JobOutcome>,
    given: {
      perLane?: number
      hostId?: string
      interrupt?: JobHandler['interrupt']
      clock?: Clock
      stores?: Commits
    } = {},
  ) => {
    const { perLane = 8, hostId = 'host_1', clock = systemClock, interrupt } = given
    const worker = await createWorker({
      ...{ database, clock, hostId, ...(given.stores ?? createCommits(database)) },
      random: Math.random,
      handlers: {
        task: { ...handleEach(run), ...(interrupt && { interrupt }) },
      },
      concurrency: 16,
      lanes: { most: perLane, first: perLane },
      onDefect: (error) => assert.ok(error),
    })
    workers.push(worker)
    return worker
  }
  const numberOf = ({ subject }: Job): number => JSON.parse(subject).n

  it('does each job once, however often it is woken', async () => {
    await insert('a', 50)
    const seen: string[] = []
    const worker = await work(async ({ id }) => {
      seen.push(id)
      return gone
    })
    for (let i = 0; i < 20; i++) worker.wake()
    await until(owed, isEmpty)
    assert.equal(new Set(seen).size, 50)
    assert.equal(seen.length, 50)
  })

  it('does a job that it is handed without reading it, and one that it has read as well, once', async () => {
    const seen: string[] = []
    let readings = 0
    database.db.on('query', ({ sql }: { sql: string }) => {
      if (sql.includes('with recursive')) readings += 1
    })
    // What looks by itself, once in a while, would read what it has been handed.
    const clock = { ...systemClock, after: () => () => {} }
    const worker = await work(
      async ({ id }) => {
        seen.push(id)
        return gone
      },
      { clock },
    )
    await worker.looked()
    assert.ok(readings > 0)
    const readBefore = readings
    const handed = await insert('a', 40)
    for (const job of handed) worker.wake('task', job.lane, { job, loaded: undefined, length: 2 })
    await until(owed, isEmpty)
    assert.equal(readings, readBefore)
    // Read, as somebody wakes it who knows of none, and handed over twice.
    const both = await insert('a', 40)
    worker.wake('task')
    for (const job of [...both, ...both]) worker.wake('task', job.lane, { job, loaded: undefined, length: 2 })
    await until(owed, isEmpty)
    assert.deepEqual(seen.toSorted(), [...handed, ...both].map(({ id }) => id).toSorted())
  })

  it('lets a lane that never ends take its own turns alone', async () => {
    await insert('slow', 500, { dueAt: Date.now() - 1000 })
    await insert('quick', 5)
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const seen: string[] = []
    const run = async ({ lane }: Job) => {
      seen.push(lane)
      if (lane === 'slow') await isOver
      return gone
    }
    await work(run, { perLane: 4 })
    await until(
      async () => seen.filter((lane) => lane === 'quick').length,
      (count) => count === 5,
    )
    assert.equal(seen.filter((lane) => lane === 'slow').length, 4)
    end()
  })

  it('keeps turns for others beside many lanes that never end', async () => {
    for (let n = 0; n < 10; n++) await insert(`slow-${n}`, 20, { dueAt: Date.now() - 1000 })
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    let quick = 0
    const run = async ({ lane }: Job) => {
      if (lane === 'quick') quick += 1
      else await isOver
      return gone
    }
    const worker = await work(run, { perLane: 4 })
    await insert('quick', 30)
    worker.wake()
    await until(
      async () => quick,
      (count) => count === 30,
    )
    end()
  })

  it('begins no more than twice as many as run at once before what came of the first ones is stored', async () => {
    await insert('a', 200)
    const { promise: isThere, resolve: bringBack } = Promise.withResolvers<void>()
    const { commits, claims } = createCommits(database)
    // A disk that takes nothing: what is done cannot be stored.
    const held: GroupCommit = {
      ...commits,
      async store(step, item, onCommitted) {
        await isThere
        return await commits.store(step, item, onCommitted)
      },
    }
    let begun = 0
    const run = async () => {
      begun += 1
      return gone
    }
    const worker = await work(run, { perLane: 16, stores: { commits: held, claims } })
    await until(
      async () => begun,
      (count) => count >= 32,
    )
    for (let i = 0; i < 10; i++) {
      worker.wake()
      await worker.looked()
    }
    assert.equal(begun, 32)
    bringBack()
    await until(owed, isEmpty)
    assert.equal(begun, 200)
  })

  it('takes the lanes in turn', async () => {
    for (const lane of ['a', 'b', 'c']) await insert(lane, 40)
    const seen: string[] = []
    await work(async ({ lane }) => {
      seen.push(lane)
      return gone
    })
    await until(owed, isEmpty)
    // After a quarter of the work each has had about a third of it.
    for (const lane of ['a', 'b', 'c']) {
      const count = seen.slice(0, 48).filter((name) => name === lane).length
      assert.ok(count >= 8, `${lane}: ${count} of the first 48`)
    }
  })

  it('keeps the order of a lane that asks for it, over retries too', async () => {
    await insert('a', 6, { ordered: true })
    const seen: number[] = []
    let failures = 0
    await work(async (job) => {
      if (numberOf(job) === 2 && failures++ < 2)
        return { move: { state: 'due', dueAtMs: Date.now() + 50, reason: 'not yet' } }
      seen.push(numberOf(job))
      return gone
    })
    await until(owed, isEmpty)
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5])
  })

  it('finds what is due beside thousands of lanes that have something for later, without waiting in between', async () => {
    const later = Array.from({ length: 3_500 }, (_, n) => `later ${n}`)
    const dueAt = Date.now() + 86_400_000
    for (let n = 0; n < later.length; n += 500) {
      const some = later.slice(n, n + 500)
      await insertJobs(
        database.db,
        some.map((lane) => ({ kind: 'task' as const, subject: {}, lane, dueAt })),
      )
    }
    const done: string[] = []
    // What looks by itself, once in a while, would find them in the end.
    const clock = { ...systemClock, after: () => () => {} }
    const worker = await work(
      async ({ lane }) => {
        done.push(lane)
        return gone
      },
      { clock },
    )
    await worker.looked()
    for (const lane of ['zzz', 'aaa']) {
      await insert(lane, 1)
      worker.wake('task')
      await until(
        async () => done,
        (lanes) => lanes.includes(lane),
      )
    }
    assert.deepEqual(done, ['zzz', 'aaa'])
  })

  it('tries again when it is due, and not before', async () => {
    await insert('a', 1)
    const at: number[] = []
    await work(async () => {
      at.push(Date.now())
      return at.length === 1 ? { move: { state: 'due', dueAtMs: Date.now() + 300, reason: 'not yet' } } : gone
    })
    await until(owed, isEmpty)
    assert.ok((at[1] ?? 0) - (at[0] ?? 0) >= 300, `${at}`)
  })

  it('takes up at its start what was running when the one before it was killed, and says that it was', async () => {
    await insert('a', 1)
    await database
      .db('jobs')
      .update({ state: 'running', leaseId: 'of a dead one', hostId: 'host_0', leaseUntil: Date.now() - 1 })
    const cut: string[] = []
    const interrupt: JobHandler['interrupt'] = async (_transaction, jobs) => {
      cut.push(...jobs.map(({ lane }) => lane))
    }
    await work(async () => gone, { interrupt })
    await until(owed, isEmpty)
    assert.deepEqual(cut, ['a'])
  })

  it('takes over what a host had that is gone, and what that host then says counts no more', async () => {
    await insert('a', 1)
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const stores: string[] = []
    const note = async (_transaction: unknown, items: readonly string[]) => {
      stores.push(...items)
      return []
    }
    const stalled = await work(async () => {
      await isOver
      return { ...gone, stores: [stored(note, 'stalled')] }
    })
    await until(owed, ([job]) => job.state === 'running')
    const other = await work(async () => ({ ...gone, stores: [stored(note, 'other')] }), { hostId: 'host_2' })
    await other.takeOver(['host_1'])
    await until(owed, isEmpty)
    end()
    await stalled.close()
    await other.close()
    assert.deepEqual(stores, ['other'])
  })

  it('counts nothing of a claim whose answer is lost, of which it began nothing', async () => {
    await insert('a', 1)
    await database.db('jobs').update({ interruptions: mostInterruptions })
    const { commits, claims } = createCommits(database)
    let lost = 0
    const losing: Commits['claims'] = {
      async note(step, item) {
        const claimed = await claims.note(step, item)
        if (lost > 0) return claimed
        lost += 1
        throw new Error('update "jobs" - Connection terminated unexpectedly')
      },
    }
    const begun: number[] = []
    const cut: string[] = []
    const run = async ({ attempt, interruptions }: Job) => {
      begun.push(attempt, interruptions)
      return gone
    }
    const interrupt: JobHandler['interrupt'] = async (_transaction, jobs) => {
      cut.push(...jobs.map(({ id }) => id))
    }
    // It looks again after an error, but not for seconds.
    const clock: Clock = { ...systemClock, after: (ms, again) => systemClock.after(ms / 100, again) }
    await work(run, { interrupt, clock, stores: { commits, claims: losing } })
    await until(owed, isEmpty)
    assert.deepEqual([begun, cut, lost], [[1, mostInterruptions], [], 1])
  })

  it('counts no run that its host’s death has cut off, five times; of a delivery never', async () => {
    await insert('a', 1)
    await insert('b', 1, { kind: 'delivery' })
    for (let deaths = 1; deaths <= 7; deaths++) {
      const running = { state: 'running', hostId: 'host_0', leaseId: `${deaths}` }
      await database.db('jobs').update({ ...running, attempt: database.db.raw('attempt + 1') })
      await endClaims(database.db, ['task', 'delivery'], { hostIds: ['host_0'] })
    }
    const rows = await database.db('jobs').orderBy('lane')
    assert.deepEqual(
      rows.map(({ kind, attempt, interruptions }) => [kind, attempt, interruptions]),
      [
        ['task', 2, 7],
        ['delivery', 0, 7],
      ],
    )
  })

  it('keeps a job whose handler has a defect', async () => {
    await insert('a', 1)
    await work(async () => {
      throw new TypeError('a mistake of ours')
    })
    const [job] = await until(owed, ([row]) => row.lastError !== null)
    assert.deepEqual([job.state, job.lastError], ['due', 'a mistake of ours'])
    assert.ok(job.dueAt > Date.now() + 30_000)
  })

  it('closes while work is waiting, and claims no more of it', async () => {
    await insert('a', 40)
    let started = 0
    const worker = await work(async () => {
      started += 1
      await new Promise((resolve) => setTimeout(resolve, 100))
      return gone
    })
    await until(
      async () => started,
      (count) => count === 8,
    )
    await worker.close()
    assert.equal(started, 8)
    assert.deepEqual(
      (await owed()).filter(({ state }) => state === 'running'),
      [],
    )
  })
})
