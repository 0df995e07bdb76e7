import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertJobs, type NewJob } from '../../host/db/queries/jobs.ts'
import { releaseSomeWaiting } from '../../host/db/queries/operating/release.ts'
import { releaseForgotten } from '../../host/db/release-waiting.ts'
import { isPostgres } from '../../host/db/rows/json-rows.ts'
import { createSuspensions } from '../../host/installations/suspend.ts'
import { holdForExport } from '../../host/move/hold-for-export.ts'
import { planOf, readRowsOf } from '../support/query-plan.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('what waits for an installation', () => {
  let seeded: Seeded
  let woken: number
  beforeEach(async () => {
    seeded = await openSeeded()
    woken = 0
  })
  afterEach(() => seeded.close())

  const wake = () => {
    woken += 1
  }
  const wait = (kind: NewJob['kind'], lane: string, times: number) => {
    const job: NewJob = { kind, subject: {}, lane, dueAt: 1, state: 'waiting' }
    return insertJobs(seeded.db, Array(times).fill(job))
  }
  const count = async (where: object): Promise<number> => (await seeded.db('jobs').where(where)).length
  const suspensions = () =>
    createSuspensions({
      ...{ db: seeded.db, logs: { report: assert.fail } as never, wake },
      ...{
        forget: () => {},
        forgive: () => {},
        onSuspend: () => assert.fail(),
        onDefect: () => assert.fail(),
      },
    })

  it('is due after its resume, released in steps; what waits for a paused endpoint waits on', async () => {
    const { db, installationId } = seeded
    await seeded.addEndpoint('ep_a', 'active')
    await seeded.addEndpoint('ep_paused', 'paused')
    await wait('event', installationId, 600)
    for (const endpoint of ['ep_a', 'ep_paused']) await wait('delivery', endpoint, 300)
    await db('installations').update({ status: 'moving', suspendedFrom: 'active' })
    // While they waited.
    await db('endpoints').where({ id: 'ep_a' }).update({ ordered: true })
    await suspensions().resume({ installation: installationId })
    assert.equal(await count({ lane: installationId, state: 'due', ordered: false }), 600)
    assert.equal(await count({ lane: 'ep_a', state: 'due', ordered: true }), 300)
    assert.equal(await count({ lane: 'ep_paused', state: 'waiting' }), 300)
    assert.equal(woken, 5, 'three steps and two')
    assert.equal((await db('installations').first()).status, 'active')
  })

  it('is released by the next one who looks, where the resume was cut off; held ones wait', async () => {
    const { db, installationId } = seeded
    const held = await seeded.addOrganization('held')
    await db('installations').where({ id: held.installationId }).update({ status: 'suspended' })
    for (const lane of [installationId, held.installationId, 'echo']) await wait('event', lane, 3)
    await db('integrations').update({ suspendedAt: 5 })
    await releaseForgotten(db, wake)
    assert.equal(await count({ lane: installationId, state: 'due' }), 3)
    assert.equal(await count({ state: 'waiting' }), 6)
    await suspensions().resume({ integration: 'echo' })
    assert.equal(await count({ lane: 'echo', state: 'due' }), 3)
    assert.equal(await count({ lane: held.installationId, state: 'waiting' }), 3)
  })

  it('is not released past somebody who begins to export it: it waits again', async () => {
    const { db, installationId } = seeded
    await seeded.addEndpoint('ep_a', 'active')
    for (const lane of [installationId, 'ep_a']) {
      await wait('event', lane, 3)
      let held: Promise<unknown> = Promise.resolve()
      await db.transaction(async (transaction) => {
        assert.equal(await releaseSomeWaiting(transaction, lane, 10), 3)
        held = holdForExport(db, installationId, () => {})
        assert.equal(await Promise.race([held.then(() => 'held'), sleep(300, 'waits')]), 'waits')
      })
      await held
      assert.equal(await count({ lane, state: 'waiting' }), 3)
      assert.equal(await db.transaction((other) => releaseSomeWaiting(other, lane, 10)), 0)
      await db('installations').update({ status: 'active' })
    }
  })

  it('is released, the longest owed first, without reading what is not released yet', async () => {
    const { db, installationId } = seeded
    await wait('event', installationId, 2_000)
    const release = () => releaseSomeWaiting(db, installationId, 20)
    assert.equal(await release(), 20)
    const released = await db('jobs').where({ state: 'due' }).max('position as last').first()
    const left = await db('jobs').where({ state: 'waiting' }).min('position as first').first()
    assert.ok(Number(released?.last) < Number(left?.first))
    if (isPostgres(db)) {
      const { plan, read } = await readRowsOf(db, release)
      assert.ok(read.length > 3 && read.every((rows) => rows <= 20), plan)
    } else {
      const plan = await planOf(db, release)
      assert.match(plan, /USING (COVERING )?INDEX jobs_waiting \(lane=\?\)/)
      assert.doesNotMatch(plan, /TEMP B-TREE|SCAN jobs/)
    }
  })
})
