import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { findEndpoint } from '../../../host/db/queries/operating/endpoints.ts'
import { orderEndpoint, releaseForgotten } from '../../../host/webhooks/operating/change-endpoint.ts'
import { openSeeded, type Seeded } from '../../support/seeded-database.ts'

describe('what is owed to an endpoint', () => {
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

  it('is released when a resume was cut off in the middle of it, and waits where it is paused', async () => {
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

  it('is marked to be kept in order, all of it, and what was read of it before holds no longer', async () => {
    await seeded.addEndpoint('ep_d', 'active')
    await owe('ep_d', 'due', 600)
    const endpoint = (await findEndpoint(seeded.db, 'ep_d')) ?? assert.fail('no endpoint')
    await orderEndpoint(seeded.db, endpoint, true)
    assert.equal(await count({ lane: 'ep_d', ordered: true, dueAt: 2 }), 600)
    await orderEndpoint(seeded.db, endpoint, false)
    assert.equal(await count({ lane: 'ep_d', ordered: false, dueAt: 3 }), 600)
    assert.equal(await count({ lane: 'ep_b', ordered: true }), 0)
  })
})
