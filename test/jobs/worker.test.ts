import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { insertJobs, type Job } from '../../host/db/queries/jobs.ts'
import { createWorker, type JobOutcome } from '../../host/jobs/create-worker.ts'
import { createLanes } from '../../host/jobs/lanes.ts'
import { until } from '../support/annex.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

describe('lanes', () => {
  it('let nobody have more than their share, and keep the order of what is due', () => {
    const lanes = createLanes(2)
    lanes.enter('a')
    const due = ['a', 'a', 'b', 'a', 'b', 'b', 'c'].map((lane, id) => ({ lane, id }))
    assert.deepEqual(
      lanes.choose(due, 10).map(({ id }) => id),
      [0, 2, 4, 6],
    )
    assert.deepEqual(
      lanes.choose(due, 2).map(({ id }) => id),
      [0, 2],
    )
    lanes.enter('a')
    assert.deepEqual(lanes.full(), ['a'])
    lanes.leave('a')
    lanes.leave('a')
    assert.deepEqual(lanes.full(), [])
  })
})

describe('a worker', () => {
  let folder: string
  let made: TestDatabase
  let database: Database
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-worker-'))
    made = await createTestDatabase()
    database = await openDatabase(made.url, folder)
  })
  afterEach(async () => {
    await database.close()
    await made.drop()
    rmSync(folder, { recursive: true })
  })

  const insert = (lane: string, count: number, dueAt = Date.now()) =>
    insertJobs(
      database.db,
      Array.from({ length: count }, (_, n) => ({ kind: 'task' as const, subject: { n }, lane, dueAt })),
    )
  const states = async () => (await database.db('jobs').select('state')).map(({ state }) => state)
  const done: JobOutcome = { next: { state: 'done' } }
  const work = (handler: (job: Job) => Promise<JobOutcome>, perLane = 8) =>
    createWorker(database, {
      handlers: { task: handler },
      concurrency: 16,
      perLane,
      onDefect: (error) => assert.ok(error),
    })

  it('does each job once, however often it is woken', async () => {
    await insert('a', 50)
    const seen: string[] = []
    const worker = await work(async ({ id }) => {
      seen.push(id)
      return done
    })
    for (let i = 0; i < 20; i++) worker.wake()
    await until(states, (all) => all.every((state) => state === 'done'))
    assert.equal(new Set(seen).size, 50)
    assert.equal(seen.length, 50)
    await worker.close()
  })

  it('lets a lane that never ends take its own turns alone', async () => {
    await insert('slow', 500, Date.now() - 1000)
    await insert('quick', 5)
    let isOver = false
    const seen: string[] = []
    const worker = await work(async ({ lane }) => {
      seen.push(lane)
      if (lane === 'slow')
        await until(
          async () => isOver,
          (over) => over,
          60,
        )
      return done
    }, 4)
    await until(
      async () => seen.filter((lane) => lane === 'quick').length,
      (count) => count === 5,
    )
    assert.equal(seen.filter((lane) => lane === 'slow').length, 4)
    isOver = true
    await worker.close()
  })

  it('tries again when it is due, and not before', async () => {
    await insert('a', 1)
    const at: number[] = []
    const worker = await work(async () => {
      at.push(Date.now())
      return at.length === 1 ? { next: { state: 'due', dueAtMs: Date.now() + 300, reason: 'not yet' } } : done
    })
    await until(states, (all) => all[0] === 'done')
    assert.ok((at[1] ?? 0) - (at[0] ?? 0) >= 300, `${at}`)
    await worker.close()
  })

  it('takes up at its start what was running when the one before it was killed', async () => {
    await insert('a', 1)
    await database
      .db('jobs')
      .update({ state: 'running', leaseId: 'of a dead one', leaseUntil: Date.now() - 1 })
    const worker = await work(async () => done)
    await until(states, (all) => all[0] === 'done')
    await worker.close()
  })

  it('keeps a job whose handler has a defect', async () => {
    await insert('a', 1)
    const worker = await work(async () => {
      throw new TypeError('a mistake of ours')
    })
    const [job] = await until(
      () => database.db('jobs').select(),
      ([row]) => row.lastError !== null,
    )
    assert.deepEqual([job.state, job.lastError], ['due', 'a mistake of ours'])
    assert.ok(job.dueAt > Date.now() + 30_000)
    await worker.close()
  })

  it('closes while work is waiting, and claims no more of it', async () => {
    await insert('a', 40)
    let started = 0
    const worker = await work(async () => {
      started += 1
      await new Promise((resolve) => setTimeout(resolve, 100))
      return done
    })
    await until(
      async () => started,
      (count) => count === 8,
    )
    await worker.close()
    assert.equal(started, 8)
    assert.deepEqual(
      (await states()).filter((state) => state === 'running'),
      [],
    )
  })
})
