import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { bundle, type Files, run, textOf } from './bundling.ts'
import { createFolder, createManifest, createSdk } from './plugin-folder.ts'

/** Each asks for a module that is not there, and answers 'without' when the question throws. */
const guarded: Record<string, string> = {
  'require of a module of Node in try': `
    export default { go: () => { try { return require('crypto') } catch { return 'without' } } }`,
  'require of a package in try': `
    export default { go: () => { try { return require('canvas') } catch { return 'without' } } }`,
  'require of a file in try': `
    export default { go: () => { try { return require('./build/Release/addon') } catch { return 'without' } } }`,
  'require of a native module in try': `
    export default { go: () => { try { return require('./addon.node') } catch { return 'without' } } }`,
  'require.resolve in try': `
    export default { go: () => { try { return require.resolve('canvas') } catch { return 'without' } } }`,
  'import() with catch': `
    export default { go: async () => (await import('node:crypto').catch(() => null)) ?? 'without' }`,
  'import() with then and catch': `
    export default { go: () => import('canvas').then((it) => it.default).catch(() => 'without') }`,
  'import() with two handlers': `
    export default { go: () => import('canvas').then((it) => it, () => 'without') }`,
  'import() awaited in try': `
    export default { go: async () => { try { return await import('canvas') } catch { return 'without' } } }`,
  'import() as TypeScript compiles it': `
    const load = () => Promise.resolve().then(() => __importStar(require('node:crypto'))).catch(() => 'without')
    const __importStar = (it) => it
    export default { go: load }`,
  'import() as TypeScript compiles it for ES5': `
    const load = () => Promise.resolve().then(function () { return tslib_1.__importStar(require("canvas")); }).catch(() => 'without')
    const tslib_1 = { __importStar: (it) => it }
    export default { go: load }`,
  'the second question': `
    const ask = () => { try { return require('canvas') } catch { return 'without' } }
    export default { go: () => { ask(); return ask() } }`,
}

const beside: Files = { 'addon.node': '\u007fELF' }

for (const [way, script] of Object.entries(guarded)) {
  test(`a missing module throws when it is used: ${way}`, async (t) => {
    const { go } = run(await bundle(t, { ...beside, 'index.ts': script }))
    assert.equal(await (go as () => unknown)(), 'without')
  })
}

test('the error of a missing module has Node’s code and the next step', async (t) => {
  const script = `
    const describe = ({ code, message }) => [code, message]
    export default { go: async () => {
      const both = []
      try { require('left-pad') } catch (error) { both.push(describe(error)) }
      await import('node:fs').catch((error) => both.push(describe(error)))
      return JSON.stringify(both)
    } }`
  const { go } = run(await bundle(t, { 'index.ts': script }))
  const [required, imported] = JSON.parse(await (go as () => Promise<string>)())
  assert.deepEqual(required, [
    'MODULE_NOT_FOUND',
    `Cannot find module 'left-pad': the package "left-pad" is not installed in the plugin folder`,
  ])
  assert.deepEqual(imported, [
    'ERR_MODULE_NOT_FOUND',
    `Cannot find module 'node:fs': "node:fs" is a module of Node, which a sandbox does not have`,
  ])
})

test('an installed module is bundled inside a guard, too', async (t) => {
  const result = await bundle(t, {
    'index.ts': `export default { go: () => { try { return require('here') } catch { return 'without' } } }`,
    'node_modules/here/index.js': `module.exports = 'here'`,
  })
  assert.equal((run(result).go as () => unknown)(), 'here')
})

test('a package above the plugin folder is missing inside a guard', async (t) => {
  const above = await createFolder(t, {
    'node_modules/canvas/index.js': `module.exports = 'of the host'`,
    'plugin/index.ts': guarded['require of a package in try'] ?? '',
  })
  const result = await bundleScript(join(above, 'plugin'), createManifest(), {
    sdkFolder: await createSdk(t),
  })
  assert.equal((run(result).go as () => unknown)(), 'without')
})

const unguarded: Record<string, string> = {
  require: `export default () => require('canvas')`,
  'require in a catch block': `try { go() } catch { require('canvas') }`,
  'require in the guard’s catch block, of another module': `
    export default () => { try { return require('other') } catch { return require('canvas') } }`,
  'import() without catch': `export default () => import('canvas')`,
  'import() whose failure is not handled': `export default () => import('canvas').then((it) => it)`,
  'a function in try': `try { later(() => require('canvas')) } catch {}`,
  'import() as TypeScript compiles it, without catch': `
    export default () => Promise.resolve().then(() => __importStar(require('canvas')))`,
  'an import statement': `import canvas from 'canvas'\ntry { require('canvas') } catch {}\nexport default canvas`,
  'one of two': `try { require('canvas') } catch {}\nexport default () => require('canvas')`,
}

for (const [way, script] of Object.entries(unguarded)) {
  test(`a missing module fails the bundle outside a guard: ${way}`, async (t) => {
    const text = textOf(await bundle(t, { 'index.ts': script }))
    assert.match(text, /^index\.ts:\d+:\d+ error the package "canvas" is not installed in the plugin folder/m)
  })
}

test('a path out of the plugin folder fails the bundle inside a guard too', async (t) => {
  const out = await createFolder(t, { 'secret.js': `module.exports = 'the secret'` })
  for (const path of [join(out, 'secret.js'), `../${out.split('/').pop()}/secret.js`]) {
    const script = `export default () => { try { return require(${JSON.stringify(path)}) } catch {} }`
    assert.match(textOf(await bundle(t, { 'index.ts': script })), /lies outside the plugin folder/)
  }
})
