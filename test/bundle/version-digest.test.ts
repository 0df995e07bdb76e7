import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { toVersionDigest } from '../../host/versions/deploy-version.ts'
import { createFolder, createManifest, createSdk } from './plugin-folder.ts'

test('a version is its manifest, in any order of fields, and its code', () => {
  const manifest = createManifest({ scopes: ['site:views:read'] })
  const turned = Object.fromEntries(Object.entries(manifest).reverse()) as typeof manifest
  assert.match(toVersionDigest(manifest, 'code'), /^[0-9a-f]{64}$/)
  assert.equal(toVersionDigest(turned, 'code'), toVersionDigest(manifest, 'code'))
  assert.notEqual(toVersionDigest(manifest, 'other'), toVersionDigest(manifest, 'code'))
  assert.notEqual(toVersionDigest(createManifest(), 'code'), toVersionDigest(manifest, 'code'))
})

test('the same sources in other folders make the same version', async (t) => {
  const digests = await Promise.all(
    [1, 2].map(async () => {
      const folder = await createFolder(t, {
        'index.ts': `import { createIntegration } from '@annex/runtime'\nexport default createIntegration({})`,
      })
      const { bundle } = await bundleScript(folder, createManifest(), { sdkFolder: await createSdk(t) })
      return toVersionDigest(createManifest(), bundle?.code ?? '')
    }),
  )
  assert.equal(digests[0], digests[1])
})
