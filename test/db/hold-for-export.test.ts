import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertJobs, type NewJob } from '../../host/db/queries/jobs.ts'
import { holdInstallation, holdSomeDue } from '../../host/db/queries/moved/hold.ts'
import { isPostgres } from '../../host/db/rows/json-rows.ts'
import { holdForExport } from '../../host/move/hold-for-export.ts'
import { planOf, readRowsOf } from '../support/query-plan.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('what an installation owes when it is exported', () => {
  let seeded: Seeded
  beforeEach(async () => {
    seeded = await openSeeded()
    await seeded.addEndpoint('ep_a', 'active')
    await seeded.db('installations').update({ status: 'active' })
  })
  afterEach(() => seeded.close())

  const owe = (kind: NewJob['kind'], lane: string, times: number) =>
    insertJobs(seeded.db, Array(times).fill({ kind, subject: {}, lane, dueAt: 1 }))
  const count = async (where: object): Promise<number> => (await seeded.db('jobs').where(where)).length

  it('waits when it is held, as much as it may be; what others owe does not', async () => {
    const { db, installationId } = seeded
    const other = await seeded.addOrganization('other')
    await owe('event', installationId, 600)
    await owe('task', installationId, 1)
    await owe('delivery', 'ep_a', 300)
    for (const lane of [other.installationId, 'echo']) await owe('event', lane, 2)
    let forgotten = 0
    const held = await holdForExport(db, installationId, () => {
      forgotten += 1
    })
    assert.equal(held.status, 'moving')
    assert.ok(forgotten > 0)
    assert.equal(await count({ state: 'waiting' }), 901)
    for (const lane of [other.installationId, 'echo']) assert.equal(await count({ lane, state: 'due' }), 2)
  })

  it('waits, too, when it was running and is due again; until then nothing is exported', async () => {
    const { db, installationId } = seeded
    await owe('event', installationId, 2)
    const running = await db('jobs').first()
    await db('jobs').where({ id: running.id }).update({ state: 'running' })
    const held = holdForExport(db, installationId, () => {})
    assert.equal(await Promise.race([held.then(() => 'held'), sleep(300, 'waits')]), 'waits')
    await db('jobs').where({ id: running.id }).update({ state: 'due' })
    await held
    assert.equal(await count({ state: 'waiting' }), 2)
  })

  it('is not exported while somebody is claiming it', async () => {
    const { db, installationId } = seeded
    await owe('event', installationId, 1)
    const claimed = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const claim = db.transaction(async (transaction) => {
      await transaction('jobs').update({ state: 'running' })
      claimed.resolve()
      await goOn.promise
    })
    await claimed.promise
    const held = holdForExport(db, installationId, () => {})
    const soon = () => Promise.race([held.then(() => 'held'), sleep(300, 'waits')])
    assert.equal(await soon(), 'waits')
    goOn.resolve()
    await claim
    assert.equal(await soon(), 'waits')
    await db('jobs').delete()
    await held
  })

  it('is left alone by a hold that has not come to its end when somebody resumes it', async () => {
    const { db, installationId } = seeded
    await owe('event', installationId, 2)
    assert.equal((await holdInstallation(db, installationId, 'Exported.'))?.isDue, true)
    await db('installations').where({ id: installationId }).update({ status: 'active' })
    assert.equal(await db.transaction((transaction) => holdSomeDue(transaction, installationId, 10)), 0)
    assert.equal(await count({ state: 'due' }), 2)
  })

  it('is held without reading what is not held yet, or what others owe', async () => {
    const { db, installationId } = seeded
    await owe('event', installationId, 2_000)
    await owe('event', 'echo', 2_000)
    await holdInstallation(db, installationId, 'Exported.')
    const hold = () => holdSomeDue(db, installationId, 20)
    if (isPostgres(db)) {
      const { plan, read } = await readRowsOf(db, hold)
      assert.ok(read.length > 3 && read.every((rows) => rows <= 20), plan)
    } else {
      const plan = await planOf(db, hold)
      assert.match(plan, /SEARCH jobs USING INDEX jobs_due_by_lane \(kind=\? AND lane=\?\)/)
      assert.doesNotMatch(plan, /TEMP B-TREE|SCAN jobs/)
    }
  })
})
