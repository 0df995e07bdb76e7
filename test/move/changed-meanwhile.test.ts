import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createSecretBox, createSigningSecret } from '../../host/access/secret-box.ts'
import type { Endpoint } from '../../host/db/queries/endpoints.ts'
import { findTarget, insertTarget } from '../../host/db/queries/installed/installation-targets.ts'
import { findInstallation, type Installation } from '../../host/db/queries/installed/installations.ts'
import { resumeInstallation } from '../../host/db/queries/installed/suspensions.ts'
import { addCounts } from '../../host/db/queries/operating/counts.ts'
import { insertSite } from '../../host/db/queries/records/sites.ts'
import { editByScript } from '../../host/installations/configure.ts'
import { rotateSecret } from '../../host/installations/rotate-secret.ts'
import { holdForExport } from '../../host/move/hold-for-export.ts'
import { writeExport } from '../../host/move/write-export.ts'
import { orderEndpoint, pauseEndpoint } from '../../host/webhooks/operating/change-endpoint.ts'
import { passphrase } from '../support/moving.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const box = createSecretBox(randomBytes(32))

describe('an export of what changes while it is read says so', () => {
  let seeded: Seeded
  let installation: Installation
  let siteId: string
  before(async () => {
    seeded = await openSeeded()
    const { db, organizationId, installationId } = seeded
    const signingSecret = box.seal(createSigningSecret())
    await db('installations').update({ signingSecret, status: 'active' })
    siteId = (await insertSite(db, { organizationId, slug: 'docs', title: 'Docs' }))?.id ?? ''
    await insertTarget(db, { installationId, kind: 'site', targetId: siteId, signingSecret })
    await seeded.addEndpoint('ep_a', 'active')
  })
  after(() => seeded.close())
  beforeEach(async () => {
    installation = await holdForExport(seeded.db, seeded.installationId, () => {})
  })

  const readEdited = async () => {
    const { db, installationId } = seeded
    const target = await findTarget(db, { installationId, kind: 'site', targetId: siteId })
    const found = await findInstallation(db, installationId)
    assert.ok(found && target)
    return { installation: found, target }
  }
  const readEndpoint = (): Promise<Endpoint> => seeded.db('endpoints').where({ id: 'ep_a' }).first()
  const day = { endpointId: 'ep_a', day: 0, delivered: 1, failed: 0, attempts: 1 }

  /** What people and other hosts may do to what is held. */
  const changes: Record<string, () => Promise<unknown>> = {
    'the secret of the installation is rotated': async () =>
      rotateSecret(seeded.db, box, { installation: (await readEdited()).installation }, {}, Date.now()),
    'the secret of its site is rotated': async () =>
      rotateSecret(seeded.db, box, await readEdited(), {}, Date.now()),
    'the settings of its site are changed': async () =>
      editByScript(seeded.db, { name: 'echo' } as never, await readEdited(), { configuration: { a: 1 } }),
    'an endpoint is paused': async () => pauseEndpoint(seeded.db, await readEndpoint(), null),
    'an endpoint is put in order': async () => orderEndpoint(seeded.db, await readEndpoint(), true),
    'a delivery of a moment ago is counted': () => addCounts(seeded.db, [day]),
    'its site is called otherwise': () => seeded.db('sites').update({ title: 'Documents' }),
    'an endpoint is added': () => seeded.addEndpoint('ep_b', 'active'),
    'it is resumed, and held again': async () => {
      await resumeInstallation(seeded.db, seeded.installationId)
      await holdForExport(seeded.db, seeded.installationId, () => {})
    },
    'it is resumed': () => resumeInstallation(seeded.db, seeded.installationId),
  }

  const start = () => writeExport({ ...{ db: seeded.db, box, installation, passphrase, version: '1' } })
  const lastOf = (text: string) => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')

  for (const [what, change] of Object.entries(changes)) {
    it(`when ${what}`, async () => {
      const lines = await start()
      await lines.next()
      assert.match((await lines.next()).value, /"record":"organization"/)
      assert.match((await lines.next()).value, /"record":"endpoint"/)
      await change()
      let last = ''
      for await (const text of lines) last = text
      const { record, code, message } = lastOf(last)
      assert.deepEqual([record, code], ['error', 'conflict'], last)
      assert.match(message, /has changed while it was exported. Export it again/)
    })
  }

  it('and one of what does not comes to its end', async () => {
    let last = ''
    for await (const text of await start()) last = text
    assert.equal(lastOf(last).record, 'end')
  })
})
