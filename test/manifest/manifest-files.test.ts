import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { createFolder } from '../bundle/plugin-folder.ts'
import { createPng } from '../support/create-png.ts'
import { options, read, sound, textsOf } from './reading.ts'

const paths: Record<string, RegExp> = {
  '../secret.ts': /the script "\.\.\/secret\.ts" lies outside the plugin folder/,
  'a/../../secret.ts': /lies outside the plugin folder/,
  '/etc/passwd.ts': /is absolute/,
  'C:\\\\secret.ts': /is absolute/,
  '\\\\\\\\host\\\\secret.ts': /is absolute/,
  'a\\0.ts': /holds a NUL byte/,
  'gone.ts': /the script "gone\.ts" does not exist/,
  'link.ts': /the script "link\.ts" lies outside the plugin folder: a symlink leads there/,
  'links/secret.ts': /lies outside the plugin folder: a symlink leads there/,
  'folder.ts': /is not a regular file/,
  'pipe.ts': /is not a regular file/,
  'a.py': /is not TypeScript or JavaScript/,
  'service-manifest.yaml/a.ts': /does not exist/,
}

for (const [path, says] of Object.entries(paths)) {
  test(`a script at ${path} is an error, not a file that is read`, { timeout: 60_000 }, async (t) => {
    const outside = await createFolder(t, { 'secret.ts': 'createIntegration({})' })
    const folder = await createFolder(t, {
      'service-manifest.yaml': `${sound}script: "${path}"\n`,
      'folder.ts/a': '',
    })
    await symlink(join(outside, 'secret.ts'), join(folder, 'link.ts'))
    await symlink(outside, join(folder, 'links'))
    execFileSync('mkfifo', [join(folder, 'pipe.ts')])
    const texts = textsOf(await readManifest(folder, options))
    assert.equal(texts.length, 1)
    assert.match(texts.join(), /^service-manifest\.yaml:8:9 error /)
    assert.match(texts.join(), says)
  })
}

test('an icon that is missing, outside the folder or not an image is an error', async (t) => {
  const files = {
    'text.png': 'not an image',
    'cut.png': createPng(1, 1).slice(0, 12),
    'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'zero.png': createPng(0, 0),
  }
  const text = async (icon: string) => textsOf(await read(t, `${sound}icon: ${icon}\n`, files)).join()
  assert.match(await text('gone.png'), /8:7 error the image "gone\.png" does not exist/)
  assert.match(
    await text('../icon.png'),
    /8:7 error the image "\.\.\/icon\.png" lies outside the plugin folder/,
  )
  for (const file of ['text.png', 'cut.png', 'a.svg', 'zero.png']) {
    assert.match(
      await text(file),
      /8:7 error the file "[a-z]+\.\w+" is not an image that can be shown[\s\S]*hint: allowed: png, jpeg, gif, webp, avif/,
    )
  }
})

test('a preview image that is not 2:1 is a warning', async (t) => {
  const files = {
    'wide.png': createPng(1600, 800),
    'near.png': createPng(1600, 796),
    'square.png': createPng(800, 800),
  }
  const reading = await read(t, `${sound}previewImages:\n  - wide.png\n  - near.png\n  - square.png\n`, files)
  const texts = textsOf(reading)
  assert.equal(texts.length, 1)
  assert.match(
    texts.join(),
    /^service-manifest\.yaml:11:5 warning the preview image "square\.png" is 800 x 800 px, which is not 2:1/,
  )
  assert.ok(reading.manifest)
})

test('icons of blocks and content sources are checked, too', async (t) => {
  const reading = await read(
    t,
    `${sound}blocks:\n  - { id: a, title: A, icon: x.png }\ncontentSources:\n  - { id: a, title: A, icon: y.png }\n`,
  )
  assert.deepEqual(
    reading.problems.map(({ line, message }) => [line, message]),
    [
      [9, 'the image "x.png" does not exist'],
      [11, 'the image "y.png" does not exist'],
    ],
  )
})
