// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../host/db/db.ts'
import { queueDeliveries } from '../../host/db/queries/deliveries.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { findReceiver, findUnpaused } from '../../host/db/queries/receivers.ts'
import { releaseForgotten, releaseSomeWaiting } from '../../host/db/queries/release-waiting.ts'
import { sendAgain } from '../../host/db/queries/send-again.ts'
import { orderReceiver, resumeReceiver } from '../../host/webhooks/operate-receiver.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const record = async (): Promise<void> => {}

describe('the pending deliveries of a receiver', () => {
  let seeded: Seeded
  before(async () => {
    seeded = await openSeeded()
  })
  after(() => seeded.close())

  const owe = (lane: string, state: 'due' | 'waiting', times: number) => {
    const job = { kind: 'delivery', subject: {}, lane, dueAt: 1, state } as const
    return insertJobs(
      seeded.db,
      Array.from({ length: times }, () => job),
    )
  }
  const count = async (where: object): Promise<number> => (await seeded.db('jobs').where(where)).length

  it('are released by maintenance after an interrupted resume, unless it is paused', async () => {
    for (const [id, state] of [
      ['rcv_a', 'paused'],
      ['rcv_b', 'active'],
      ['rcv_c', 'active'],
    ] as const) {
      await seeded.addReceiver(id, state)
      await owe(id, 'waiting', 300)
    }
    let woken = 0
    const ending = new AbortController()
    seeded.database.onNews(() => {
      woken += 1
      ending.abort()
    })
    await releaseForgotten(seeded.db, ending.signal)
    assert.equal(await count({ state: 'due' }), 250, 'the host ends: no further step')
    await releaseForgotten(seeded.db)
    assert.equal(await count({ lane: 'rcv_a', state: 'waiting' }), 300)
    for (const lane of ['rcv_b', 'rcv_c']) assert.equal(await count({ lane, state: 'due' }), 300)
    assert.ok(woken >= 4, 'in steps, the worker told after each')
  })

  it('are released once by two simultaneous resumes', async () => {
    const { db } = seeded
    await seeded.addReceiver('rcv_g', 'active')
    await owe('rcv_g', 'waiting', 3)
    let other = Promise.resolve(0)
    await db.transaction(async (transaction) => {
      assert.equal(await releaseSomeWaiting(transaction, 'rcv_g', 10), 3)
      other = releaseSomeWaiting(db, 'rcv_g', 10)
      await Promise.race([other, sleep(100)])
    })
    assert.equal(await other, 0)
  })

  it('are all marked as ordered, with a new due time', async () => {
    await seeded.addReceiver('rcv_d', 'active')
    await owe('rcv_d', 'due', 600)
    const receiver = (await findReceiver(seeded.db, 'rcv_d')) ?? assert.fail('no receiver')
    await orderReceiver(seeded.db, receiver, true, record)
    assert.equal(await count({ lane: 'rcv_d', ordered: true, dueAt: 2 }), 600)
    await orderReceiver(seeded.db, receiver, false, record)
    assert.equal(await count({ lane: 'rcv_d', ordered: false, dueAt: 3 }), 600)
    assert.equal(await count({ lane: 'rcv_b', ordered: true }), 0)
  })

  it('are marked by a second call after the first was interrupted', async () => {
    await seeded.addReceiver('rcv_e', 'active')
    await owe('rcv_e', 'due', 600)
    const marked = await seeded.db('jobs').where({ lane: 'rcv_e' }).orderBy('id').limit(250).pluck('id')
    await seeded.db('jobs').whereIn('id', marked).update({ ordered: true, dueAt: 2 })
    await seeded.db('receivers').where({ id: 'rcv_e' }).update({ ordered: true })
    const receiver = (await findReceiver(seeded.db, 'rcv_e')) ?? assert.fail('no receiver')
    await orderReceiver(seeded.db, receiver, true, record)
    assert.equal(await count({ lane: 'rcv_e', ordered: true, dueAt: 2 }), 600, 'each once')
  })

  it('are marked without a deadlock while results are stored', async () => {
    const { db } = seeded
    await seeded.addReceiver('rcv_h', 'active')
    const [job] = await owe('rcv_h', 'due', 1)
    const ofJob = { id: job?.id ?? assert.fail('no job') }
    await db('jobs').where(ofJob).update({ state: 'running' })
    const receiver = (await findReceiver(db, 'rcv_h')) ?? assert.fail('no receiver')
    let ordered = Promise.resolve()
    await db.transaction(async (transaction) => {
      await transaction('jobs').where(ofJob).update({ state: 'due', dueAt: 5_000 })
      ordered = orderReceiver(db, receiver, true, record)
      await Promise.race([ordered, sleep(100)])
      await transaction('receivers').where({ id: 'rcv_h' }).update({ failingSince: 1 })
    })
    await ordered
    assert.equal(await count({ lane: 'rcv_h', state: 'due', ordered: true }), 1)
  })

  it('are due when a resume comes while they are created, sent again or held back', async () => {
    const { db, installationId } = seeded
    await seeded.addReceiver('rcv_f', 'paused')
    const where = { installationId, signedBy: 'installation', url: 'http://rcv_f.example/' }
    const event = { eventId: 'evt_1', eventType: 'page_feedback', body: '{}', hops: 0 }
    const assertDueAfter = async (owe: (transaction: Db) => Promise<unknown>): Promise<void> => {
      await db('jobs').where({ lane: 'rcv_f' }).delete()
      await db('receivers').where({ id: 'rcv_f' }).update({ state: 'paused' })
      const receiver = (await findReceiver(db, 'rcv_f')) ?? assert.fail('no receiver')
      let resumed: Promise<unknown> = Promise.resolve()
      await db.transaction(async (transaction) => {
        await owe(transaction)
        resumed = resumeReceiver(db, receiver, record)
        // It waits for the end of this, or comes too early.
        await Promise.race([resumed, sleep(100)])
      })
      await resumed
      assert.deepEqual(await db('jobs').where({ lane: 'rcv_f' }).pluck('state'), ['due'])
    }
    await assertDueAfter((transaction) => queueDeliveries(transaction, [{ ...where, ...event }]))
    const { id } = await db('deliveries').where({ receiverId: 'rcv_f' }).first('id')
    await db('deliveries').where({ id }).update({ state: 'failed' })
    await assertDueAfter((transaction) => sendAgain(transaction, [{ id, dueAt: 1 }]))
    await assertDueAfter(async (transaction) => {
      assert.deepEqual(await findUnpaused(transaction, ['rcv_f']), [])
      const job = { kind: 'delivery', subject: { id }, lane: 'rcv_f', dueAt: 1, state: 'waiting' } as const
      await insertJobs(transaction, [job])
    })
  })
})
