import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../host/db/db.ts'
import { type GroupCommit, runSteps } from '../../host/db/group-commit.ts'
import { oweDeliveries } from '../../host/db/queries/deliveries.ts'
import { insertTarget } from '../../host/db/queries/installed/installation-targets.ts'
import { ensureVersion, setIntegrationVersion } from '../../host/db/queries/integrations.ts'
import { holdInstallation } from '../../host/db/queries/moved/hold.ts'
import { insertSite } from '../../host/db/queries/records/sites.ts'
import { publishEvent } from '../../host/events/publish-event.ts'
import { queueTask } from '../../host/events/tasks.ts'
import { holdForExport } from '../../host/move/hold-for-export.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }

describe('an installation that is held for its export', () => {
  let seeded: Seeded
  let siteId: string
  let number = 0
  before(async () => {
    seeded = await openSeeded()
    const { db, organizationId, installationId } = seeded
    siteId = (await insertSite(db, { organizationId, slug: 'docs', title: 'Docs' }))?.id ?? ''
    await insertTarget(db, { installationId, kind: 'site', targetId: siteId, signingSecret: 'sealed' })
    await db('installationTargets').update({ status: 'active' })
    const manifest = JSON.stringify({ scopes: ['site:views:read'] })
    const code = { digest: 'digest', manifest, code: '', sourceMap: '' }
    const version = await ensureVersion(db, { integration: 'echo', ...code })
    await setIntegrationVersion(db, 'echo', version.id)
    // Its endpoint is there: making one would lock the installation by itself.
    await owing.deliveries(db)
  })
  after(() => seeded.close())
  beforeEach(async () => {
    await seeded.db('jobs').delete()
    await seeded.db('installations').update({ status: 'active', suspendedFrom: null })
  })

  const hold = (db: Db) => holdInstallation(db, seeded.installationId, 'Exported.')

  /** Each way in which something becomes owed to it. */
  const owing = {
    deliveries: (db: Db): Promise<unknown> => {
      number += 1
      const key = {
        installationId: seeded.installationId,
        signedBy: 'installation',
        url: 'http://a.example/',
      }
      return oweDeliveries(db, [{ ...key, eventId: `evt_${number}`, eventType: 'told', body: '{}', hops: 0 }])
    },
    events: async (db: Db): Promise<void> => {
      const store: GroupCommit['store'] = async (step, item) =>
        (await runSteps(db, [{ step, item } as never]))[0] as never
      const event = { type: 'site_view', siteId, url: 'http://b.example/', visitor }
      const { installations } = await publishEvent(
        { store } as GroupCommit,
        () => {},
        seeded.organizationId,
        event,
        () => {},
      )
      if (installations === 0) throw new Error('taken by none')
    },
    tasks: (db: Db): Promise<unknown> =>
      queueTask(
        db,
        { kind: 'installation', integration: 'echo', installationId: seeded.installationId },
        { task: {} },
      ),
  }

  for (const [what, owe] of Object.entries(owing)) {
    it(`has the ${what} that were being owed to it`, async () => {
      const { db } = seeded
      const stored = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      const owed = db.transaction(async (transaction) => {
        await owe(transaction)
        stored.resolve()
        await goOn.promise
      })
      await Promise.race([stored.promise, owed])
      const held = holdForExport(db, seeded.installationId, () => {})
      assert.equal(await Promise.race([held.then(() => 'held'), sleep(300, 'waits')]), 'waits')
      goOn.resolve()
      await owed
      await held
      assert.deepEqual(await db('jobs').pluck('state'), ['waiting'])
    })

    if (what === 'events') continue
    it(`gets no ${what} any more, those that wait for it least of all`, async () => {
      const { db } = seeded
      const isHeld = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      const held = db.transaction(async (transaction) => {
        await hold(transaction)
        isHeld.resolve()
        await goOn.promise
      })
      await isHeld.promise
      const refused = assert.rejects(db.transaction(owe), /is being moved/)
      await sleep(100)
      goOn.resolve()
      await held
      await refused
      await assert.rejects(db.transaction(owe), /is being moved/)
      assert.deepEqual(await db('jobs'), [])
    })
  }
})
