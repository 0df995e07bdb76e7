import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { findIntegration, findVersion, setIntegrationVersion } from '../../host/db/queries/integrations.ts'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import { deployVersion } from '../../host/versions/deploy-version.ts'
import { createManifest } from '../bundle/plugin-folder.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('of an integration’s versions', () => {
  let seeded: Seeded
  before(async () => {
    seeded = await openSeeded()
  })
  after(() => seeded.close())

  const deploy = async (code: string, name: string): Promise<number> => {
    const { number } = await deployVersion(seeded.db, createSecretBox(Buffer.alloc(32, 1)), {
      manifest: normalizeManifest(createManifest({ name })),
      bundle: { code, map: '{}', inputs: {} },
      folder: name,
      place: 'here',
      organizationId: seeded.organizationId,
    })
    return number
  }
  const numbersOf = async (integration: string): Promise<number[]> => {
    const rows = await seeded.db('versions').where({ integration }).orderBy('number').select('number')
    return rows.map(({ number }) => number)
  }

  it('the deployed one and the one before it are kept, and no number comes again', async () => {
    await deploy('neighbour', 'other')
    const kept: number[][] = []
    for (const code of ['1', '2', '3', '2', '2', '4', '5', '1']) {
      await deploy(code, 'ours')
      kept.push(await numbersOf('ours'))
    }
    assert.deepEqual(kept, [[1], [1, 2], [2, 3], [2, 3], [2, 3], [2, 4], [4, 5], [5, 6]])
    assert.deepEqual(await numbersOf('other'), [1])
  })

  it('the last one is kept of an integration that was out of service', async () => {
    for (const code of ['1', '2']) await deploy(code, 'back')
    await setIntegrationVersion(seeded.db, 'back', null)
    assert.equal(await deploy('3', 'back'), 3)
    assert.deepEqual(await numbersOf('back'), [2, 3])
    const { versionId } = (await findIntegration(seeded.db, 'back')) ?? {}
    assert.equal((await findVersion(seeded.db, versionId ?? ''))?.code, '3')
  })
})
