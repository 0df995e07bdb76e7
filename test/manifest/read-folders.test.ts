import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readFolder, readFolders } from '../../host/manifest/read-folders.ts'
import { writeTypes } from '../../host/manifest/settings/write-types.ts'
import { createFolder } from '../bundle/plugin-folder.ts'
import { options, sound, textsOf } from './reading.ts'

const createFolders = (t: TestContext, manifests: string[]): Promise<string[]> =>
  Promise.all(manifests.map((manifest) => createFolder(t, { 'service-manifest.yaml': manifest })))

test('a thread reads folders as the host does, and compiles missing types', async (t) => {
  const folders = await createFolders(t, [sound, 'name: [', sound.replace('sample', 'other'), ''])
  const readings = await readFolders(folders, options)
  assert.deepEqual(readings, await Promise.all(folders.map((folder) => readFolder(folder, options))))
  assert.deepEqual(
    readings.map(({ manifest, types }) => [manifest?.name, types?.includes('export interface Integration')]),
    [
      ['sample', true],
      [undefined, undefined],
      ['other', true],
      [undefined, undefined],
    ],
  )
})

test('current types of a folder are not compiled again', async (t) => {
  const [folder = ''] = await createFolders(t, [sound])
  const [first] = await readFolders([folder], options)
  await writeTypes(folder, first?.types ?? '')
  const [second] = await readFolders([folder], options)
  assert.equal(second?.types, undefined)
  assert.equal(await readFile(join(folder, 'generated/integration.ts'), 'utf8'), first?.types)
})

test('a folder that needs too much memory fails alone', async (t) => {
  const hungry = `${sound}a: [${'{b: [1]},'.repeat(28_000)}]\n`
  const folders = await createFolders(t, [sound, hungry, sound.replace('sample', 'other')])
  const [first, second, third] = await readFolders(folders, options, { heapMb: 48 })
  assert.ok(first && second && third)
  assert.equal(first.manifest?.name, 'sample')
  assert.match(textsOf(second).join(), /the manifest could not be read: .*memory/)
  assert.equal(third.manifest?.name, 'other')
})
