import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadBundle } from '../../host/bundle/load-bundle.ts'
import { addFiles, createFolder, createManifest, createSdk } from './plugin-folder.ts'

const files = {
  'index.ts': `import { n } from 'pkg'\nimport note from './note.txt'\nexport default { n, note }`,
  'note.txt': 'one',
  'node_modules/pkg/index.js': 'export const n = 1',
}

test('a bundle is made once and then comes from the cache', async (t) => {
  const folder = await createFolder(t, files)
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  const first = await loadBundle(folder, createManifest(), options)
  const second = await loadBundle(folder, createManifest(), options)
  assert.deepEqual([first.cached, second.cached], [false, true])
  assert.ok(first.bundle)
  assert.deepEqual(second.bundle, first.bundle)
  assert.equal((await readdir(join(options.cacheFolder, 'bundles'))).length, 1, 'a draft was left behind')
})

const changes: Record<string, (folder: string, sdkFolder: string) => Promise<void>> = {
  'a file beside the script': (folder) => addFiles(folder, { 'note.txt': 'two' }),
  'a new file': (folder) => addFiles(folder, { 'more.ts': '' }),
  'an installed package': (folder) =>
    addFiles(folder, { 'node_modules/pkg/index.js': 'export const n = 22' }),
  'the SDK': (_, sdkFolder) => addFiles(sdkFolder, { 'index.ts': 'export const changed = 1' }),
}

for (const [what, change] of Object.entries(changes)) {
  test(`the bundle is made again after a change of ${what}`, async (t) => {
    const folder = await createFolder(t, files)
    const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
    await loadBundle(folder, createManifest(), options)
    await change(folder, options.sdkFolder)
    assert.equal((await loadBundle(folder, createManifest(), options)).cached, false)
  })
}

test('generated types do not change the bundle', async (t) => {
  const folder = await createFolder(t, files)
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  await loadBundle(folder, createManifest(), options)
  await addFiles(folder, { 'generated/integration.ts': 'export type Integration = {}' })
  assert.equal((await loadBundle(folder, createManifest(), options)).cached, true)
})

for (const damage of ['', 'not JSON', 'null', '{"digest":"x","text":"{}"}', 'cut']) {
  test(`a damaged cache file (${damage || 'empty'}) is made again`, async (t) => {
    const folder = await createFolder(t, files)
    const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
    const first = await loadBundle(folder, createManifest(), options)
    const [name = ''] = await readdir(join(options.cacheFolder, 'bundles'))
    const path = join(options.cacheFolder, 'bundles', name)
    const whole = await readFile(path, 'utf8')
    await writeFile(path, damage === 'cut' ? whole.slice(0, -40) : damage)
    const again = await loadBundle(folder, createManifest(), options)
    assert.equal(again.cached, false)
    assert.deepEqual(again.bundle, first.bundle)
    assert.equal((await stat(path)).size, Buffer.byteLength(whole))
  })
}

test('a failed bundle is not kept', async (t) => {
  const folder = await createFolder(t, { 'index.ts': `import 'gone'` })
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  const { bundle, problems } = await loadBundle(folder, createManifest(), options)
  assert.equal(bundle, undefined)
  assert.equal(problems.length, 1)
  assert.deepEqual(await readdir(options.cacheFolder), [])
})
