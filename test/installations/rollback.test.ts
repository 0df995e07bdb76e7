import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemOrigin } from '../../host/access/actor.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { findIntegration } from '../../host/db/queries/integrations.ts'
import { rollBack } from '../../host/installations/rollback.ts'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import { deployVersion } from '../../host/versions/deploy-version.ts'
import { createManifest } from '../bundle/plugin-folder.ts'
import { openSeeded } from '../support/seeded-database.ts'

it('a rollback to a version with a missing secret is refused, with its name', async () => {
  const seeded = await openSeeded()
  try {
    const { db, organizationId } = seeded
    const box = createSecretBox(Buffer.alloc(32, 1))
    for (const secrets of [{ KEY: `\${{ env.PROVIDER_KEY }}` }, undefined]) {
      await deployVersion(db, box, {
        manifest: normalizeManifest(createManifest({ name: 'ours', ...(secrets && { secrets }) })),
        bundle: { code: '', map: '{}', inputs: {} },
        ...{ folder: 'ours', hostId: 'here', organizationId },
      })
    }
    const row = await findIntegration(db, 'ours')
    assert.ok(row)
    const reading = { operatorOrganization: 'home', operatorOrganizationId: organizationId, environment: {} }
    await assert.rejects(rollBack(db, row, {}, reading, systemOrigin), {
      code: 'conflict',
      details: [{ path: '/secrets/KEY', message: `\${{ env.PROVIDER_KEY }} is not set on this host` }],
    })
    const set = { ...reading, environment: { PROVIDER_KEY: 'value' } }
    assert.equal((await rollBack(db, row, { isDry: true }, set, systemOrigin)).number, 1)
    assert.equal((await findIntegration(db, 'ours'))?.pinnedVersionId, null)
    assert.equal((await rollBack(db, row, {}, set, systemOrigin)).number, 1)
    assert.notEqual((await findIntegration(db, 'ours'))?.pinnedVersionId, null)
  } finally {
    await seeded.close()
  }
})
