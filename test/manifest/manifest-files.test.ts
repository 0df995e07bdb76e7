import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { createFolder } from '../bundle/plugin-folder.ts'
import { createPng } from '../support/create-png.ts'
import { options, read, sound, textsOf } from './reading.ts'

const calls = {
  'a default export': `import { createIntegration } from '@annex/runtime'\nexport default createIntegration({})`,
  'another name': `import { createIntegration as make } from '@annex/runtime'\nexport default make({})`,
  'a namespace': `import * as sdk from '@annex/runtime'\nexport default sdk.createIntegration({})`,
  'a required module': `const { createIntegration } = require('@annex/runtime')\nmodule.exports = createIntegration({})`,
  'a type argument, and a quote in a pattern before it': `import { createIntegration } from '@annex/runtime'\nconst tick = /\`/, quote = /"/\nexport default createIntegration<{ name: string }>({})`,
}

for (const [way, script] of Object.entries(calls)) {
  test(`a script that calls createIntegration by ${way} passes`, async (t) => {
    assert.deepEqual(textsOf(await read(t, `${sound}script: a.ts\n`, { 'a.ts': script })), [])
  })
}

const mentions = {
  'a comment': '// createIntegration({})\n/* createIntegration() */ export default 1',
  'a text': `export default "createIntegration({})" + 'createIntegration()'`,
  'a template': 'const a = 1; export default `createIntegration($' + '{a})`',
  'an import alone': `import { createIntegration } from '@annex/runtime'\nexport { createIntegration }`,
  'a function of its own': 'export function createIntegration() {}',
  'a longer name': 'const recreateIntegration = () => 1; export default recreateIntegration()',
}

for (const [where, script] of Object.entries(mentions)) {
  test(`a script with createIntegration in ${where} only is an error`, async (t) => {
    const texts = textsOf(await read(t, `${sound}script: a.ts\n`, { 'a.ts': script }))
    assert.deepEqual(texts, [
      `service-manifest.yaml:8:9 error the script "a.ts" does not call createIntegration()
  6 | scopes:
  7 |   - site:views:read
  8 | script: a.ts
    |         ^^^^
  hint: end it with: export default createIntegration({ … })`,
    ])
  })
}

test('a script that does not parse is left to the bundler, which shows its line', async (t) => {
  assert.deepEqual(textsOf(await read(t, `${sound}script: a.ts\n`, { 'a.ts': 'const = 1' })), [])
})

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

test('an icon that is missing, outside or no image is an error', async (t) => {
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

test('a preview image that is not 2:1 is a warning, and the manifest is good', async (t) => {
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

test('the icons of blocks and content sources are checked as well', async (t) => {
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
