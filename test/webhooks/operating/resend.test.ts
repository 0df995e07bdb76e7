import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createGroupCommit } from '../../../host/db/group-commit.ts'
import { createId } from '../../../host/db/ids.ts'
import { findResend, insertResend, stopResend } from '../../../host/db/queries/operating/resends.ts'
import { createWorker, type Worker } from '../../../host/queue/worker.ts'
import { countFailed, createRunResend, untilNow } from '../../../host/webhooks/operating/resend.ts'
import { until } from '../../support/annex.ts'
import { openSeeded, type Seeded } from '../../support/seeded-database.ts'

const asker = { line: 'mine' }

describe('a resend', () => {
  let seeded: Seeded
  let workers: Worker[]
  beforeEach(async () => {
    seeded = await openSeeded()
    await seeded.addEndpoint('ep_a', 'active')
    workers = []
  })
  afterEach(async () => {
    for (const worker of workers) await worker.close()
    await seeded.close()
  })

  async function fail(count: number, given: object = {}): Promise<void> {
    const { db, installationId } = seeded
    const common = {
      eventType: 'told',
      installationId,
      endpointId: 'ep_a',
      signedBy: 'installation',
      url: 'http://a.example/',
      bodyId: 'body_a',
      hops: 0,
      state: 'failed',
      reason: 'rejected',
      attempts: 1,
      createdAt: 1,
      finishedAt: 1,
    }
    const rows = Array.from({ length: count }, () => ({
      ...{ id: createId('dlv'), eventId: createId('evt'), ...common, ...given },
    }))
    await db.batchInsert('deliveries', rows, 50)
  }

  async function begin(perSecond: number): Promise<string> {
    const { db } = seeded
    const filter = untilNow(db, { sinceMs: 0 })
    const { count } = await countFailed(db, asker, filter)
    return db.transaction((transaction) => insertResend(transaction, {}, { filter, perSecond, count }))
  }

  async function work(): Promise<Worker> {
    const { database } = seeded
    const { db, clock } = database
    const worker = await createWorker({
      ...{ database, commits: createGroupCommit(database.db), clock, hostId: 'host_1', random: Math.random },
      handlers: { resend: createRunResend({ db, clock, wake: () => {} }) },
      concurrency: 4,
      lanes: { most: 1, first: 1 },
      onDefect: (error) => assert.fail(String(error)),
    })
    workers.push(worker)
    return worker
  }

  const owed = (): Promise<{ id: string; dueAt: number }[]> =>
    seeded.db('jobs').where({ kind: 'delivery' }).orderBy('dueAt')
  const state = async (id: string) => (await findResend(seeded.db, id))?.state
  const isDone = (found: string | undefined) => found === 'done'

  it('owes all that failed once, no more at a time than it may, and goes on after a restart', async () => {
    await fail(600)
    const id = await begin(500)
    const first = await work()
    await until(owed, (jobs) => jobs.length > 0)
    await first.close()
    const half = await owed()
    assert.ok(half.length < 600, `${half.length} at once`)
    assert.equal((await findResend(seeded.db, id))?.sent, half.length)
    await work()
    await until(() => state(id), isDone)
    const jobs = await owed()
    assert.equal(new Set(jobs.map(({ id }) => id)).size, 600)
    const [begun, ended] = [jobs[0]?.dueAt ?? 0, jobs.at(-1)?.dueAt ?? 0]
    assert.ok(ended - begun >= 1_190, `600, 500 a second, within ${ended - begun} ms`)
    const done = await findResend(seeded.db, id)
    assert.deepEqual([done?.sent, done?.count], [600, 600])
    assert.equal((await seeded.db('jobs').where({ kind: 'resend' })).length, 0)
  })

  it('sends what fails again, or fails from now on, not again', async () => {
    await fail(3)
    const id = await begin(1_000)
    await fail(2, { finishedAt: Date.now() + 60_000 })
    await work()
    await until(() => state(id), isDone)
    assert.equal((await owed()).length, 3)
  })

  it('that was stopped owes nothing more', async () => {
    await fail(30)
    const id = await begin(1)
    assert.equal(await stopResend(seeded.db, id), true)
    await work()
    await until(
      () => seeded.db('jobs').where({ kind: 'resend' }),
      (jobs) => jobs.length === 0,
    )
    assert.deepEqual([await state(id), (await owed()).length], ['stopped', 0])
    assert.equal(await stopResend(seeded.db, id), false)
  })

  it('finds what can be sent behind thousands that cannot', async () => {
    await seeded.addEndpoint('ep_b', 'disabled')
    await fail(3_000, { endpointId: 'ep_b' })
    await fail(2)
    const id = await begin(1_000)
    await work()
    await until(() => state(id), isDone)
    assert.deepEqual([(await findResend(seeded.db, id))?.count, (await owed()).length], [2, 2])
  })

  it('is counted in steps, each delivery once', async () => {
    await fail(7_000)
    await seeded.addEndpoint('ep_b', 'disabled')
    await fail(3_500, { endpointId: 'ep_b' })
    const counted = await countFailed(seeded.db, asker, untilNow(seeded.db, { sinceMs: 0 }))
    assert.deepEqual(counted, { count: 7_000, disabled: 3_500 })
  })
})
