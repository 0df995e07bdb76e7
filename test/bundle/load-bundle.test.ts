import assert from 'node:assert/strict'
import { readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { removeUnused } from '../../host/bundle/build-cache.ts'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { loadBundle } from '../../host/bundle/load-bundle.ts'
import { addFiles, createFolder, createManifest, createSdk } from './plugin-folder.ts'

const files = {
  'index.ts': `import { createIntegration } from '@annex/runtime'
import { n } from 'pkg'
import { linked } from 'linked'
import note from './note.txt'
export default createIntegration({ n, linked, note })`,
  'note.txt': 'one',
  'node_modules/pkg/index.js': 'export const n = 1',
  'node_modules/pkg/other.js': 'export const n = 3',
  'node_modules/store/a/index.js': 'export const linked = 1',
  'node_modules/store/b/index.js': 'export const linked = 2',
}

const createPlugin = async (t: TestContext): Promise<string> => {
  const folder = await createFolder(t, files)
  await symlink('store/a', join(folder, 'node_modules/linked'))
  return folder
}

test('a bundle is built once, and then comes from the cache', async (t) => {
  const folder = await createPlugin(t)
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
  'an installed package with the same size and time': async (folder) => {
    const path = join(folder, 'node_modules/pkg/index.js')
    const { atime, mtime } = await stat(path)
    await writeFile(path, 'export const n = 2')
    await utimes(path, atime, mtime)
  },
  'the main file of an installed package': (folder) =>
    addFiles(folder, { 'node_modules/pkg/package.json': '{"main":"./other.js"}' }),
  'the module kind of the folder': (folder) => addFiles(folder, { 'package.json': '{"type":"module"}' }),
  'the target of a symlink': async (folder) => {
    await rm(join(folder, 'node_modules/linked'))
    await symlink('store/b', join(folder, 'node_modules/linked'))
  },
  'the compiler options of the folder': (folder) =>
    addFiles(folder, { 'tsconfig.json': '{"compilerOptions":{"alwaysStrict":false}}' }),
  'the SDK': (_, sdkFolder) => addFiles(sdkFolder, { 'index.ts': 'export const changed = 1' }),
}

for (const [what, change] of Object.entries(changes)) {
  test(`the bundle is built again after a change of ${what}`, async (t) => {
    const folder = await createPlugin(t)
    const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
    await loadBundle(folder, createManifest(), options)
    assert.equal((await loadBundle(folder, createManifest(), options)).cached, true)
    await change(folder, options.sdkFolder)
    const again = await loadBundle(folder, createManifest(), options)
    assert.equal(again.cached, false)
    assert.deepEqual(again.bundle, (await bundleScript(folder, createManifest(), options)).bundle)
  })
}

test('generated types do not change the bundle', async (t) => {
  const folder = await createPlugin(t)
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  await loadBundle(folder, createManifest(), options)
  await addFiles(folder, { 'generated/integration.ts': 'export type Integration = {}' })
  assert.equal((await loadBundle(folder, createManifest(), options)).cached, true)
})

test('the warnings of a bundle are cached with it', async (t) => {
  const folder = await createFolder(t, {
    'index.ts': `import { createIntegration } from '@annex/runtime'
export default createIntegration({ same: ({}) === -0 })`,
  })
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  const first = await loadBundle(folder, createManifest(), options)
  const second = await loadBundle(folder, createManifest(), options)
  assert.equal(first.problems.length, 1)
  assert.deepEqual([second.cached, second.problems], [true, first.problems])
})

for (const damage of ['', 'not JSON', 'null', '{"digest":"x","text":"{}"}', 'cut']) {
  test(`a damaged cache file (${damage || 'empty'}) is replaced`, async (t) => {
    const folder = await createPlugin(t)
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

test('a failed bundle is not cached', async (t) => {
  const folder = await createFolder(t, { 'index.ts': `import 'gone'` })
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  const { bundle, problems } = await loadBundle(folder, createManifest(), options)
  assert.equal(bundle, undefined)
  assert.equal(problems.length, 1)
  assert.deepEqual(await readdir(options.cacheFolder), [])
})

test('a folder has one entry in the cache, which each save replaces', async (t) => {
  const folder = await createPlugin(t)
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  for (const note of ['one', 'two', 'three']) {
    await addFiles(folder, { 'note.txt': note })
    await loadBundle(folder, createManifest(), options)
  }
  assert.equal((await readdir(join(options.cacheFolder, 'bundles'))).length, 1)
})

test('a file leaves the cache after 30 days without use, and used files stay', async (t) => {
  const folder = await createPlugin(t)
  const cacheFolder = await createFolder(t, { 'prelude-old.js': '', 'bundles/a.json.draft.tmp': '' })
  const options = { sdkFolder: await createSdk(t), cacheFolder }
  await loadBundle(folder, createManifest(), options)
  const longAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000)
  const names = await readdir(cacheFolder, { recursive: true })
  for (const name of names) await utimes(join(cacheFolder, name), longAgo, longAgo)
  assert.equal((await loadBundle(folder, createManifest(), options)).cached, true)
  await removeUnused(cacheFolder)
  const left = (await readdir(cacheFolder, { recursive: true })).filter((name) => name.includes('.'))
  assert.equal(left.length, 1)
  assert.equal((await loadBundle(folder, createManifest(), options)).cached, true)
})

test('a missing cache folder is no error', async (t) => {
  await removeUnused(join(await createFolder(t, {}), 'none'))
})
