import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import vm from 'node:vm'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { createFolder, createManifest, createSdk } from './plugin-folder.ts'

/** What a bundled script exports by default, as JSON. */
async function exported(t: TestContext, files: Record<string, string>): Promise<unknown> {
  const folder = await createFolder(t, files)
  const { bundle, problems } = await bundleScript(folder, createManifest(), {
    sdkFolder: await createSdk(t),
  })
  assert.deepEqual(problems, [])
  const module = { exports: { default: undefined } }
  vm.runInNewContext(bundle?.code ?? '', { __annexDefine: (body: (to: object) => void) => body(module) })
  return JSON.parse(JSON.stringify(module.exports.default))
}

test('a package with files for import and require gives each its own', async (t) => {
  const files = {
    'index.ts': `import viaImport, { kind } from 'both'\nimport viaRequire from 'old'\nexport default [viaImport, kind, viaRequire]`,
    'node_modules/both/package.json': JSON.stringify({
      exports: { types: './index.d.ts', import: './index.mjs', require: './index.cjs' },
    }),
    'node_modules/both/index.mjs': `export const kind = 'module'\nexport default 'imported'`,
    'node_modules/both/index.cjs': `module.exports = () => 'required'`,
    'node_modules/old/package.json': '{"main":"index.js"}',
    'node_modules/old/index.js': `module.exports = require('both')()`,
  }
  assert.deepEqual(await exported(t, files), ['imported', 'module', 'required'])
})

test('a package gives its file for workers, browsers or bundlers, and never the one for Node', async (t) => {
  const one = (name: string, conditions: object) => ({
    [`node_modules/${name}/package.json`]: JSON.stringify({ type: 'module', exports: { '.': conditions } }),
    [`node_modules/${name}/node.js`]: `import 'node:fs'\nexport default 'node'`,
    [`node_modules/${name}/web.js`]: `export default 'web'`,
    [`node_modules/${name}/other.js`]: `export default 'other'`,
  })
  const files = {
    'index.ts': `import a from 'a'\nimport b from 'b'\nimport c from 'c'\nimport d from 'd'\nexport default [a, b, c, d]`,
    ...one('a', { node: './node.js', worker: './web.js', default: './other.js' }),
    ...one('b', { node: './node.js', browser: { import: './web.js' }, default: './other.js' }),
    ...one('c', { node: './node.js', module: './web.js', default: './other.js' }),
    ...one('d', { node: './node.js', deno: './other.js', default: './web.js' }),
  }
  assert.deepEqual(await exported(t, files), ['web', 'web', 'web', 'web'])
})
