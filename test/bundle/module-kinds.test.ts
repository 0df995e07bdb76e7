import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import vm from 'node:vm'
import { build } from 'esbuild'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { bundle, type Files, run } from './bundling.ts'
import { createFolder, createManifest, createSdk } from './plugin-folder.ts'

/** Files that import: the four kinds, by their ending and by what the nearest package.json says. */
const importers: Record<string, Files> = {
  'a module by its ending': { 'index.mts': '' },
  'a module by package.json': { 'index.js': '', 'package.json': '{"type":"module"}' },
  'a file of no kind': { 'index.js': '' },
  'a file in a CommonJS package': { 'index.js': '', 'package.json': '{"type":"commonjs"}' },
}

const marked = `Object.defineProperty(exports, '__esModule', { value: true })\nexports.default = 'default'\nexports.named = 'named'`
const unmarked = `module.exports = { default: 'default', named: 'named' }`

/** What they import. */
const imported: Record<string, Files> = {
  'CommonJS with __esModule': { 'node_modules/pkg/index.js': marked, 'node_modules/pkg/package.json': '{}' },
  'CommonJS with __esModule by its ending': {
    'node_modules/pkg/index.cjs': marked,
    'node_modules/pkg/package.json': '{"type":"module","main":"index.cjs"}',
  },
  'CommonJS without': { 'node_modules/pkg/index.js': unmarked, 'node_modules/pkg/package.json': '{}' },
  'a module': {
    'node_modules/pkg/index.js': `export default 'default'\nexport const named = 'named'`,
    'node_modules/pkg/package.json': '{"type":"module"}',
  },
}

/** A package between the script and the one that is imported has a kind of its own. */
const between: Record<string, Files> = {
  'a package of modules': {
    'node_modules/between/index.js': `import it, * as all from 'pkg'\nexport default [it, all.default, all.named]`,
    'node_modules/between/package.json': '{"type":"module"}',
  },
  'a package of no kind': {
    'node_modules/between/index.js': `import it, * as all from 'pkg'\nexport default [it, all.default, all.named]`,
    'node_modules/between/package.json': '{}',
  },
  'a CommonJS package': {
    'node_modules/between/index.js': `const it = require('pkg')\nmodule.exports = [it, it.default, it.named]`,
    'node_modules/between/package.json': '{}',
  },
}

const script = `import it, * as all from 'pkg'
import between from 'between'
import { named } from 'pkg'
export default { it, default: all.default, named, between }`

for (const [importer, own] of Object.entries(importers)) {
  for (const [what, its] of Object.entries(imported)) {
    for (const [middle, theirs] of Object.entries(between)) {
      test(`${importer} and ${middle} import ${what} as plain esbuild does`, async (t) => {
        const [entry = ''] = Object.keys(own)
        const folder = await createFolder(t, { ...its, ...theirs, ...own, [entry]: script })
        const ours = await bundleScript(folder, createManifest({ script: entry }), {
          sdkFolder: await createSdk(t),
        })
        const plain = await build({
          entryPoints: [join(folder, entry)],
          bundle: true,
          write: false,
          format: 'cjs',
          platform: 'browser',
        })
        assert.equal(toText(run(ours)), toText(runPlain(plain.outputFiles[0]?.text ?? '')))
      })
    }
  }
}

function runPlain(code: string): unknown {
  const module = { exports: { default: undefined } }
  vm.runInNewContext(code, { module })
  return module.exports.default
}

const toText = (value: unknown): string => JSON.stringify(value, null, 1)

test('a module gets the whole CommonJS package as its default, as in Node', async (t) => {
  const result = await bundle(t, {
    'index.ts': `import it from 'esm'\nexport default { it }`,
    'node_modules/esm/package.json': '{"type":"module"}',
    'node_modules/esm/index.js': `import it from 'cjs'\nexport default typeof it.default`,
    'node_modules/cjs/index.js': marked,
  })
  assert.equal(run(result).it, 'string')
})

const compiled = `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const runtime_1 = require("@annex/runtime");
exports.default = (0, runtime_1.createIntegration)({ answer: 42 });
`

/** Entries as compilers write them. */
const entries: Record<string, { script: string; files: Files }> = {
  'as TypeScript compiles it': { script: 'index.js', files: { 'index.js': compiled } },
  'with the ending .cjs': {
    script: 'index.cjs',
    files: { 'index.cjs': compiled, 'package.json': '{"type":"module"}' },
  },
  'in a package of CommonJS': {
    script: 'index.js',
    files: { 'index.js': compiled, 'package.json': '{"type":"commonjs"}' },
  },
  'as one value': {
    script: 'index.js',
    files: { 'index.js': `module.exports = require('@annex/runtime').createIntegration({ answer: 42 })` },
  },
  'that exports require as a module': {
    script: 'index.ts',
    files: { 'index.ts': `import it from './built.js'\nexport default it`, 'built.js': compiled },
  },
}

for (const [what, { script, files }] of Object.entries(entries)) {
  test(`a compiled entry runs: ${what}`, async (t) => {
    const { bundle: made, problems } = await bundle(t, files, script)
    assert.deepEqual(problems, [])
    const module: { exports: { default?: unknown } } = { exports: {} }
    vm.runInNewContext(made?.code ?? '', { __annexDefine: (body: (to: object) => void) => body(module) })
    assert.equal(toText(module.exports.default ?? module.exports), toText({ answer: 42 }))
  })
}

test('a bundle that requires the SDK names no folder of the host', async (t) => {
  const { bundle: made } = await bundle(t, { 'index.js': compiled }, 'index.js')
  assert.doesNotMatch(JSON.stringify(made), /annex-test-/)
})
