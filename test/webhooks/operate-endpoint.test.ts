import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../host/db/db.ts'
import { oweDeliveries } from '../../host/db/queries/deliveries.ts'
import { findEndpoint, findUnpaused } from '../../host/db/queries/endpoints.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { releaseForgotten, releaseSomeWaiting } from '../../host/db/queries/release-waiting.ts'
import { sendAgain } from '../../host/db/queries/send-again.ts'
import { orderEndpoint, resumeEndpoint } from '../../host/webhooks/operate-endpoint.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('the pending deliveries of an endpoint', () => {
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

  it('are released by maintenance after an interrupted resume, and wait while it is paused', async () => {
    for (const [id, state] of [
      ['ep_a', 'paused'],
      ['ep_b', 'active'],
      ['ep_c', 'active'],
    ] as const) {
      await seeded.addEndpoint(id, state)
      await owe(id, 'waiting', 300)
    }
    let woken = 0
    const ending = new AbortController()
    const wake = () => {
      woken += 1
      ending.abort()
    }
    await releaseForgotten(seeded.db, wake, ending.signal)
    assert.equal(await count({ state: 'due' }), 250, 'the host ends: no further step')
    await releaseForgotten(seeded.db, wake)
    assert.equal(await count({ lane: 'ep_a', state: 'waiting' }), 300)
    for (const lane of ['ep_b', 'ep_c']) assert.equal(await count({ lane, state: 'due' }), 300)
    assert.ok(woken >= 4, 'in steps, the worker told after each')
  })

  it('are released once by two resumes at the same time', async () => {
    const { db } = seeded
    await seeded.addEndpoint('ep_g', 'active')
    await owe('ep_g', 'waiting', 3)
    let other = Promise.resolve(0)
    await db.transaction(async (transaction) => {
      assert.equal(await releaseSomeWaiting(transaction, 'ep_g', 10), 3)
      other = releaseSomeWaiting(db, 'ep_g', 10)
      await Promise.race([other, sleep(100)])
    })
    assert.equal(await other, 0)
  })

  it('are all marked as ordered, with a new due time', async () => {
    await seeded.addEndpoint('ep_d', 'active')
    await owe('ep_d', 'due', 600)
    const endpoint = (await findEndpoint(seeded.db, 'ep_d')) ?? assert.fail('no endpoint')
    await orderEndpoint(seeded.db, endpoint, true)
    assert.equal(await count({ lane: 'ep_d', ordered: true, dueAt: 2 }), 600)
    await orderEndpoint(seeded.db, endpoint, false)
    assert.equal(await count({ lane: 'ep_d', ordered: false, dueAt: 3 }), 600)
    assert.equal(await count({ lane: 'ep_b', ordered: true }), 0)
  })

  it('are marked by a second call after the first was interrupted', async () => {
    await seeded.addEndpoint('ep_e', 'active')
    await owe('ep_e', 'due', 600)
    const marked = await seeded.db('jobs').where({ lane: 'ep_e' }).orderBy('id').limit(250).pluck('id')
    await seeded.db('jobs').whereIn('id', marked).update({ ordered: true, dueAt: 2 })
    await seeded.db('endpoints').where({ id: 'ep_e' }).update({ ordered: true })
    const endpoint = (await findEndpoint(seeded.db, 'ep_e')) ?? assert.fail('no endpoint')
    await orderEndpoint(seeded.db, endpoint, true)
    assert.equal(await count({ lane: 'ep_e', ordered: true, dueAt: 2 }), 600, 'each once')
  })

  it('are marked without a deadlock while results are stored', async () => {
    const { db } = seeded
    await seeded.addEndpoint('ep_h', 'active')
    const [job] = await owe('ep_h', 'due', 1)
    const ofJob = { id: job?.id ?? assert.fail('no job') }
    await db('jobs').where(ofJob).update({ state: 'running' })
    const endpoint = (await findEndpoint(db, 'ep_h')) ?? assert.fail('no endpoint')
    let ordered = Promise.resolve()
    await db.transaction(async (transaction) => {
      await transaction('jobs').where(ofJob).update({ state: 'due', dueAt: 5_000 })
      ordered = orderEndpoint(db, endpoint, true)
      await Promise.race([ordered, sleep(100)])
      await transaction('endpoints').where({ id: 'ep_h' }).update({ failingSince: 1 })
    })
    await ordered
    assert.equal(await count({ lane: 'ep_h', state: 'due', ordered: true }), 1)
  })

  it('are due after a resume at the moment of their creation, resend or pause', async () => {
    const { db, installationId } = seeded
    await seeded.addEndpoint('ep_f', 'paused')
    const where = { installationId, signedBy: 'installation', url: 'http://ep_f.example/' }
    const event = { eventId: 'evt_1', eventType: 'page_feedback', body: '{}', hops: 0 }
    const assertDueAfter = async (owe: (transaction: Db) => Promise<unknown>): Promise<void> => {
      await db('jobs').where({ lane: 'ep_f' }).delete()
      await db('endpoints').where({ id: 'ep_f' }).update({ state: 'paused' })
      const endpoint = (await findEndpoint(db, 'ep_f')) ?? assert.fail('no endpoint')
      let resumed: Promise<unknown> = Promise.resolve()
      await db.transaction(async (transaction) => {
        await owe(transaction)
        resumed = resumeEndpoint(db, endpoint, () => {})
        // It waits for the end of this, or comes too early.
        await Promise.race([resumed, sleep(100)])
      })
      await resumed
      assert.deepEqual(await db('jobs').where({ lane: 'ep_f' }).pluck('state'), ['due'])
    }
    await assertDueAfter((transaction) => oweDeliveries(transaction, [{ ...where, ...event }]))
    const { id } = await db('deliveries').where({ endpointId: 'ep_f' }).first('id')
    await db('deliveries').where({ id }).update({ state: 'failed' })
    await assertDueAfter((transaction) => sendAgain(transaction, [{ id, dueAt: 1 }]))
    await assertDueAfter(async (transaction) => {
      assert.deepEqual(await findUnpaused(transaction, ['ep_f']), [])
      const job = { kind: 'delivery', subject: { id }, lane: 'ep_f', dueAt: 1, state: 'waiting' } as const
      await insertJobs(transaction, [job])
    })
  })
})
