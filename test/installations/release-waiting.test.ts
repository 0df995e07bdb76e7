import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemOrigin } from '../../host/access/actor.ts'
import type { News } from '../../host/db/announce.ts'
import type { Db } from '../../host/db/db.ts'
import { type GroupCommit, runSteps } from '../../host/db/group-commit.ts'
import { findInstallation } from '../../host/db/queries/installations.ts'
import { setIntegrationVersion } from '../../host/db/queries/integrations.ts'
import { insertJobs, type NewJob } from '../../host/db/queries/jobs.ts'
import { insertPlaceLevel } from '../../host/db/queries/levels.ts'
import { insertSite } from '../../host/db/queries/places.ts'
import {
  releaseForgotten,
  releaseSomeWaiting,
  releaseWaiting,
} from '../../host/db/queries/release-waiting.ts'
import { ensureVersion } from '../../host/db/queries/versions.ts'
import { isPostgres } from '../../host/db/sql.ts'
import { publishEvent } from '../../host/events/publish-event.ts'
import { createSuspensions } from '../../host/installations/suspend.ts'
import { planOf, readRowsOf } from '../support/query-plan.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('waiting jobs of an installation', () => {
  let seeded: Seeded
  beforeEach(async () => {
    seeded = await openSeeded()
  })
  afterEach(() => seeded.close())

  const wait = (kind: NewJob['kind'], lane: string, times: number) => {
    const job: NewJob = { kind, subject: {}, lane, dueAt: 1, state: 'waiting' }
    return insertJobs(seeded.db, Array(times).fill(job))
  }
  const count = async (where: object): Promise<number> => (await seeded.db('jobs').where(where)).length
  const suspensions = () =>
    createSuspensions({
      ...{ db: seeded.db, logs: { report: assert.fail } as never },
      ...{
        forgive: () => {},
        onSuspend: () => assert.fail(),
        onDefect: () => assert.fail(),
      },
    })

  it('are due after a resume, in steps, except those of a paused receiver', async () => {
    const { db, installationId } = seeded
    await seeded.addReceiver('rcv_paused', 'paused')
    await wait('event', installationId, 600)
    await wait('delivery', 'rcv_paused', 300)
    await db('installations').update({ hold: 'suspended' })
    const told: News[] = []
    seeded.database.onNews((news) => told.push(news))
    await suspensions().resume({ installation: installationId }, systemOrigin)
    assert.equal(await count({ lane: installationId, state: 'due', ordered: false }), 600)
    assert.equal(await count({ lane: 'rcv_paused', state: 'waiting' }), 300)
    assert.deepEqual(told, ['changed', 'work', 'work', 'work'], 'the resume, and each step')
    assert.equal((await db('installations').first()).hold, null)
  })

  it('take over the order of their receiver', async () => {
    const { db } = seeded
    await seeded.addReceiver('rcv_a', 'active')
    await wait('delivery', 'rcv_a', 300)
    await db('receivers').where({ id: 'rcv_a' }).update({ ordered: true })
    assert.equal(await releaseWaiting(db, 'rcv_a'), 300)
    assert.equal(await count({ lane: 'rcv_a', state: 'due', ordered: true }), 300)
  })

  it('are released by maintenance after an interrupted resume, except held ones', async () => {
    const { db, installationId } = seeded
    const held = await seeded.addOrganization('held')
    await db('installations').where({ id: held.installationId }).update({ hold: 'suspended' })
    for (const lane of [installationId, held.installationId, 'echo']) await wait('event', lane, 3)
    await db('integrations').update({ suspendedAt: 5 })
    await releaseForgotten(db)
    assert.equal(await count({ lane: installationId, state: 'due' }), 3)
    assert.equal(await count({ state: 'waiting' }), 6)
    await suspensions().resume({ integration: 'echo' }, systemOrigin)
    assert.equal(await count({ lane: 'echo', state: 'due' }), 3)
    assert.equal(await count({ lane: held.installationId, state: 'waiting' }), 3)
  })

  it('are released when a resume begins while they are being stored', async () => {
    const { db, installationId } = seeded
    const publish = await createPublish(seeded)
    await db('installations').update({ hold: 'paused' })
    const stored = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const storing = db.transaction(async (transaction) => {
      await publish(transaction)
      stored.resolve()
      await goOn.promise
    })
    await Promise.race([stored.promise, storing])
    const resumed = suspensions().resume({ installation: installationId }, systemOrigin)
    assert.equal(await Promise.race([resumed.then(() => 'resumed'), sleep(300, 'waits')]), 'waits')
    goOn.resolve()
    await storing
    await resumed
    assert.deepEqual(await db('jobs').pluck('state'), ['due'])
  })

  it('are released oldest first, without a read of the rest', async () => {
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

/** @returns publishes an event that the installation takes, within a transaction */
async function createPublish({ db, organizationId, installationId }: Seeded) {
  const site = await insertSite(db, { organizationId, slug: 'docs', title: 'Docs' })
  const siteId = site?.id ?? ''
  const installation = await findInstallation(db, installationId)
  assert.ok(installation)
  await insertPlaceLevel(db, installation, { kind: 'site', placeId: siteId, signingSecret: 'sealed' })
  await db('levels').update({ status: 'active' })
  const manifest = JSON.stringify({ scopes: ['site:views:read'] })
  const code = { digest: 'digest', manifest, code: '', sourceMap: '', handledEvents: null }
  const version = await ensureVersion(db, { integration: 'echo', ...code })
  await setIntegrationVersion(db, 'echo', version, { pinned: false })
  const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }
  const event = { type: 'site_view', siteId, url: 'http://b.example/', visitor }
  return async (transaction: Db): Promise<void> => {
    const store: GroupCommit['store'] = async (step, item) =>
      (await runSteps(transaction, [{ step, item } as never]))[0] as never
    const commits = { store } as GroupCommit
    const { installations } = await publishEvent(commits, organizationId, event, () => {})
    assert.equal(installations, 1)
  }
}
