import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { holdInstallations, insertGrant } from '../../host/db/queries/grants.ts'
import { insertInstallation } from '../../host/db/queries/installations.ts'
import { findIntegration, retireIntegration } from '../../host/db/queries/integrations.ts'
import { findVersionCode } from '../../host/db/queries/versions.ts'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import { deployVersion } from '../../host/versions/deploy-version.ts'
import { createManifest } from '../bundle/plugin-folder.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('versions of an integration:', () => {
  let seeded: Seeded
  before(async () => {
    seeded = await openSeeded()
  })
  after(() => seeded.close())

  const deploy = async (code: string, name: string): Promise<number> => {
    const { number } = await deployVersion(seeded.db, createSecretBox(Buffer.alloc(32, 1)), {
      manifest: normalizeManifest(createManifest({ name, script: './index.ts' })),
      bundle: { code, map: '{}', inputs: {} },
      folder: name,
      hostId: 'here',
      organizationId: seeded.organizationId,
    })
    return number
  }
  const numbersOf = async (integration: string): Promise<number[]> => {
    const rows = await seeded.db('versions').where({ integration }).orderBy('number').select('number')
    return rows.map(({ number }) => number)
  }

  it('the ten newest are kept, and no number is used again', async () => {
    await deploy('neighbour', 'other')
    const codes = Array.from({ length: 11 }, (_, n) => String(n + 1))
    for (const code of [...codes, '2', '12']) await deploy(code, 'ours')
    // The second one was deployed before the last.
    assert.deepEqual(await numbersOf('ours'), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    assert.equal(await deploy('1', 'ours'), 13)
    assert.deepEqual(await numbersOf('other'), [1])
  })

  it('the last one before a retirement is kept', async () => {
    for (const code of ['1', '2']) await deploy(code, 'back')
    await retireIntegration(seeded.db, 'back')
    assert.equal(await deploy('3', 'back'), 3)
    assert.deepEqual(await numbersOf('back'), [1, 2, 3])
    const { versionId } = (await findIntegration(seeded.db, 'back')) ?? {}
    assert.equal(await findVersionCode(seeded.db, versionId ?? ''), '3')
  })

  it('an old one is kept while an installation runs it', async () => {
    await deploy('0', 'held')
    const { versionId } = (await findIntegration(seeded.db, 'held')) ?? {}
    const given = { integration: 'held', organizationId: seeded.organizationId, signingSecret: 'sealed' }
    const installation = await insertInstallation(seeded.db, given)
    const installationId = installation?.id ?? ''
    const actor = { kind: 'system', id: null } as const
    await insertGrant(seeded.db, { installationId, version: 1, permissions: '[]', actor })
    await holdInstallations(seeded.db, [installationId], versionId ?? null)
    for (const code of Array.from({ length: 12 }, (_, n) => String(n + 1))) await deploy(code, 'held')
    assert.deepEqual(await numbersOf('held'), [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
  })
})
