import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { bundleScript } from '../../host/bundle/bundle-script.ts'
import { mapStack } from '../../host/bundle/map-stack.ts'
import { bundle, type Files, run, textOf } from './bundling.ts'
import { addFiles, createFolder, createManifest, createSdk } from './plugin-folder.ts'

test('a script and its imports become one statement that defines the integration', async (t) => {
  const result = await bundle(t, {
    'index.ts': `#!/usr/bin/env annex
import { createIntegration } from '@annex/runtime'
import { createIntegration as same } from '@gitbook/runtime'
import { answer } from 'answers'
import text from './note.txt'
import data from './data.json'
import raw from './page.raw.js'
import sheet from './a.css'
import styled from './plain.html' with { type: 'text' }
export default createIntegration({ answer, text, data, raw, sheet, styled, same: same === createIntegration })`,
    'note.txt': 'a note',
    'data.json': '{"a":1}',
    'page.raw.js': 'not + parsed +',
    'a.css': '@import "/etc/passwd";',
    'plain.html': '<p>',
    'node_modules/answers/package.json': '{"main":"main.js","browser":{"fs":false}}',
    'node_modules/answers/main.js': 'const fs = require("fs"); exports.answer = 42 + Object.keys(fs).length',
  })
  assert.match(result.bundle?.code ?? '', /^__annexDefine\(function \(module\) \{[\s\S]*\}\)\n$/)
  assert.equal(
    JSON.stringify(run(result)),
    JSON.stringify({
      answer: 42,
      text: 'a note',
      data: { a: 1 },
      raw: 'not + parsed +',
      sheet: '@import "/etc/passwd";',
      styled: '<p>',
      same: true,
    }),
  )
  const inputs = Object.keys(result.bundle?.inputs ?? {})
  assert.ok(inputs.includes('@annex/runtime/index.ts'))
  assert.ok(inputs.includes('node_modules/answers/main.js'))
  assert.doesNotMatch(JSON.stringify(result.bundle), /annex-test-/, 'paths of the host are in the bundle')
})

test('an integration without a script has an empty bundle', async (t) => {
  const folder = await createFolder(t, {})
  const result = await bundleScript(folder, createManifest({ script: undefined }), {
    sdkFolder: await createSdk(t),
  })
  assert.deepEqual(run(result), {})
})

test('each import of a Node module is refused, with its replacement', async (t) => {
  const text = textOf(
    await bundle(t, {
      'index.ts': `import { readFile } from 'node:fs/promises'\nimport { hash } from './lib/hash.ts'\nexport default [readFile, hash]\n`,
      'lib/hash.ts': `import { createHash } from 'crypto'\nexport const hash = createHash\n`,
    }),
  )
  assert.match(
    text,
    /^index\.ts:1:\d+ error "node:fs\/promises" is a module of Node, which a sandbox does not have$/m,
  )
  assert.match(text, /^ {2}1 \| import \{ readFile \} from 'node:fs\/promises'\n {4}\| +\^{18}$/m)
  assert.match(text, /hint: a sandbox has no files/)
  assert.match(text, /^lib\/hash\.ts:1:28 error "crypto" is a module of Node/m)
  assert.match(text, /hint: use crypto\.subtle/)
})

test('each syntax error, missing file and missing package is listed with its position', async (t) => {
  const text = textOf(
    await bundle(t, {
      'index.ts': `import './broken.ts'\nimport './gone.ts'\nimport 'left-pad'\n`,
      'broken.ts': `const wörter = 'ä'; const = 1\n`,
    }),
  )
  assert.match(text, /^broken\.ts:1:27 error Expected identifier but found "="$/m)
  assert.match(text, /^index\.ts:2:8 error there is no file "\.\/gone\.ts"$/m)
  assert.match(text, /^index\.ts:3:8 error the package "left-pad" is not installed/m)
})

test('the first fifty of thousands of mistakes are listed', async (t) => {
  const { problems } = await bundle(t, { 'index.ts': 'const a = 1\n'.repeat(2000) })
  assert.deepEqual([problems.length, problems[0]?.line, problems[49]?.line], [50, 2, 51])
})

test('a package above the plugin folder counts as not installed, and a Node module has its hint', async (t) => {
  const above = await createFolder(t, {
    'node_modules/buffer/index.js': '',
    'node_modules/@scope/left-pad/lib/index.js': '',
    'plugin/index.ts': `import a from 'buffer'\nimport b from '@scope/left-pad/lib/index.js'\nexport default [a, b]`,
  })
  const sdkFolder = await createSdk(t)
  const text = textOf(await bundleScript(join(above, 'plugin'), createManifest(), { sdkFolder }))
  assert.match(text, /index\.ts:1:\d+ error "buffer" is a module of Node/)
  assert.match(text, /use Uint8Array/)
  assert.match(
    text,
    /index\.ts:2:\d+ error the package "@scope\/left-pad\S+" is not installed in the plugin folder/,
  )
  assert.match(text, /npm install --prefix \S+ @scope\/left-pad$/m)
})

test('a package with the name of a Node module is bundled from the plugin folder', async (t) => {
  const result = await bundle(t, {
    'index.ts': `import a from 'buffer'; export default { a }`,
    'node_modules/buffer/index.js': 'module.exports = 1',
  })
  assert.equal(JSON.stringify(run(result)), '{"a":1}')
})

const secret = 'the-secret-of-the-host'
const outside: Files = {
  'secret.txt': secret,
  'secret.ts': `export default '${secret}'`,
  'secret.json': `"${secret}"`,
}

// Each imports a file of another folder in its own way. OUT is that folder, UP the way there from the script.
const escapes: Record<string, { files: Files; says: RegExp }> = {
  'an absolute path': {
    files: { 'index.ts': `import x from 'OUT/secret.ts'; export default x` },
    says: /lies outside the plugin folder/,
  },
  'an absolute path as text': {
    files: { 'index.ts': `import x from 'OUT/secret.txt' with { type: 'text' }; export default x` },
    says: /lies outside the plugin folder/,
  },
  'a path upwards': {
    files: { 'index.ts': `import x from 'UP/secret.ts'; export default x` },
    says: /lies outside the plugin folder/,
  },
  'a path upwards with a query': {
    files: { 'index.ts': `import x from 'UP/secret.txt?raw'; export default x` },
    says: /lies outside/,
  },
  'a path upwards in require': {
    files: { 'index.ts': `export default require('UP/secret.json')` },
    says: /lies outside/,
  },
  'a file address': {
    files: { 'index.ts': `import x from 'file://OUT/secret.ts'; export default x` },
    says: /cannot be imported: only files are/,
  },
  'a data address': {
    files: { 'index.ts': `import x from 'data:text/plain,hi'; export default x` },
    says: /cannot be imported: only files are/,
  },
  'an https address': {
    files: { 'index.ts': `import x from 'https://a.example/x.js'; export default x` },
    says: /cannot be imported: only files are/,
  },
  'a path with a variable': {
    files: { 'index.ts': 'export default (name: string) => import(`UP/$' + '{name}.ts`)' },
    says: /the path must be known when the script is bundled/,
  },
  'a path with a variable, written around': {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the script holds the template
    files: { 'index.ts': 'export default (name: string) => require(((`.${"."}/` + ("\\x2e./" + name))))' },
    says: /the path must be known when the script is bundled/,
  },
  'the main file of a package': {
    files: {
      'index.ts': `import x from 'bad'; export default x`,
      'node_modules/bad/package.json': '{"main":"../../UP/secret.ts"}',
    },
    says: /leads outside the plugin folder/,
  },
  'the browser map of a package': {
    files: {
      'index.ts': `import x from 'bad'; export default x`,
      'node_modules/bad/package.json': '{"main":"a.js","browser":{"./b.js":"../../UP/secret.ts"}}',
      'node_modules/bad/a.js': `module.exports = require('./b.js')`,
      'node_modules/bad/b.js': '',
    },
    says: /outside the plugin folder/,
  },
  'the JSX pragma': {
    files: {
      'index.tsx': '/** @jsxImportSource UP */ export default <a/>',
      'index.ts': `import './index.tsx'`,
    },
    says: /lies outside/,
  },
  'a file that cannot be bundled': {
    files: { 'index.ts': `import './a.node'`, 'a.node': 'x' },
    says: /"a\.node" cannot be imported/,
  },
  'an unknown import attribute': {
    files: { 'index.ts': `import x from './a.txt' with { type: 'css' }; export default x`, 'a.txt': 'x' },
    says: /cannot be imported/,
  },
}

for (const [way, { files, says }] of Object.entries(escapes)) {
  test(`nothing outside the plugin folder is bundled by ${way}`, async (t) => {
    const out = await createFolder(t, outside)
    const up = `../${out.split('/').pop()}`
    const aimed = Object.entries(files).map(([path, text]) => [
      path,
      String(text).replaceAll('OUT', out).replaceAll('UP', up),
    ])
    const text = textOf(await bundle(t, Object.fromEntries(aimed)))
    assert.match(text, says)
    assert.ok(!text.includes(secret))
  })
}

// Ways to write a path with a variable part, all of which esbuild answers with every file that matches.
const globs = [
  'enum E { A = "./b" }; export default (x) => import(E.A + x)',
  'const k = "./b"; export default (x) => import(k + x)',
  'export default (x) => import("./b".concat(x))',
  'export default (x) => import(x ? "./b" + x : "./b1.ts")',
  'export default (x) => import(<any>("\\u002e/b" + x)!)',
  'export default (x) => import(/* webpackIgnore: true */ /* a )*/ "./b" + x)',
  'export default (x) => import\n(\n// a line\n//* more\n"./b" + x)',
  'export default (x) => import("./b" + x, { with: { type: "text" } })',
  'export default (x) => module.require("./b" + x)',
  'export default (x) => { try { return require("." + "/b" + x) } catch {} }',
]

for (const script of globs) {
  test(`a path with a variable part is refused: ${JSON.stringify(script.slice(15))}`, async (t) => {
    const result = await bundle(t, { 'index.ts': script, 'b1.ts': '', 'b2.ts': '' })
    assert.match(textOf(result), /the path must be known when the script is bundled/)
  })
}

test('a path without a variable part is bundled in any notation', async (t) => {
  const result = await bundle(t, {
    'index.ts': 'export default { a: require("./a.ts").default, b: () => import(/* b */ `./b.ts`) }',
    'a.ts': 'export default 1',
    'b.ts': 'export default 2',
  })
  assert.deepEqual(Object.keys(result.bundle?.inputs ?? {}).toSorted(), ['a.ts', 'b.ts', 'index.ts'])
})

test('a symlink out of the plugin folder is refused, imported or not', async (t) => {
  const out = await createFolder(t, outside)
  const folder = await createFolder(t, { 'index.ts': 'export default 1' })
  await symlink(join(out, 'secret.ts'), join(folder, 'link.ts'))
  const text = textOf(await bundleScript(folder, createManifest(), { sdkFolder: await createSdk(t) }))
  assert.match(text, /link\.ts is a symlink that leads outside the plugin folder/)
})

test('a symlink within the plugin folder works', async (t) => {
  const folder = await createFolder(t, {
    'index.ts': `import x from './link.ts'; export default x`,
    'real.ts': 'export default {ok: 1}',
  })
  await symlink(join(folder, 'real.ts'), join(folder, 'link.ts'))
  const result = await bundleScript(folder, createManifest(), { sdkFolder: await createSdk(t) })
  assert.equal(JSON.stringify(run(result)), '{"ok":1}')
})

test('a FIFO in place of a package.json is an error, not a wait', async (t) => {
  const folder = await createFolder(t, { 'index.ts': `import 'pipe'`, 'node_modules/pipe/index.js': '' })
  execFileSync('mkfifo', [join(folder, 'node_modules/pipe/package.json')])
  const text = textOf(await bundleScript(folder, createManifest(), { sdkFolder: await createSdk(t) }))
  assert.match(text, /node_modules\/pipe\/package\.json is neither a file nor a folder/)
})

test('a package.json that is too large or not a file is an error', async (t) => {
  const huge = await bundle(t, {
    'index.ts': `import 'a'`,
    'node_modules/a/package.json': ' '.repeat(2_000_000),
  })
  assert.match(textOf(huge), /node_modules\/a\/package\.json has 2000000 bytes; at most 1048576 are allowed/)
  const folder = await createFolder(t, {
    'index.ts': `import 'a'`,
    '.git/a/index.js': '',
    'node_modules/b.js': '',
  })
  execFileSync('mkfifo', [join(folder, '.git/a/package.json')])
  await symlink(join(folder, '.git/a'), join(folder, 'node_modules/a'))
  const text = textOf(await bundleScript(folder, createManifest(), { sdkFolder: await createSdk(t) }))
  assert.match(text, /\.git\/a\/package\.json is neither a file nor a folder/)
})

test('a file that a sourceMappingURL comment names is not read', async (t) => {
  const map = JSON.stringify({ version: 3, sources: ['x'], sourcesContent: [secret], mappings: 'AAAA' })
  const out = await createFolder(t, { 'm.map': map })
  for (const comment of [
    `//# sourceMappingURL=${out}/m.map`,
    `//@ sourceMappingURL=${out}/m.map`,
    `/*# sourceMappingURL=${out}/m.map */`,
  ]) {
    const result = await bundle(t, { 'index.ts': `export default { a: 1 }\n${comment}\n` })
    assert.equal(JSON.stringify(run(result)), '{"a":1}')
    assert.ok(!result.bundle?.map.includes(secret), comment)
  }
  // What would happen if nothing were done about it: else this test would prove nothing.
  const folder = await createFolder(t, {
    'index.ts': `export default 1\n//# sourceMappingURL=${out}/m.map\n`,
  })
  const plain = await build({
    entryPoints: [join(folder, 'index.ts')],
    bundle: true,
    write: false,
    outdir: folder,
    sourcemap: 'external',
  })
  assert.ok(plain.outputFiles.some((file) => file.text.includes(secret)))
})

test('a script cannot import parts of the SDK by their path', async (t) => {
  const sdkFolder = await createSdk(t)
  await addFiles(sdkFolder, { 'inner.ts': `export default '${secret}'` })
  const folder = await createFolder(t, {
    'index.ts': `import x from '../${sdkFolder.split('/').pop()}/inner.ts'; export default x`,
  })
  assert.match(
    textOf(await bundleScript(folder, createManifest(), { sdkFolder })),
    /lies outside the plugin folder/,
  )
  const named = await createFolder(t, {
    'index.ts': `import x from '@annex/runtime/inner.ts'; export default x`,
  })
  assert.match(textOf(await bundleScript(named, createManifest(), { sdkFolder })), /the SDK has no module/)
})

test('a bundle above the limit is refused with its largest files', async (t) => {
  const big = `export default "${'x'.repeat(2_700_000)}"`
  const text = textOf(
    await bundle(t, {
      'index.ts': `import a from './a.ts'; import b from './b.ts'; export default [a, b]`,
      'a.ts': big,
      'b.ts': big,
    }),
  )
  assert.match(text, /the bundle has 54\d{5} bytes; at most 5242880 are allowed/)
  assert.match(text, /hint: largest files: a\.ts \(\d+ bytes\), b\.ts/)
})

test('a script that crashes esbuild is an error, and the next one is bundled', {
  timeout: 60_000,
}, async (t) => {
  const deep = await createFolder(t, { 'index.ts': `export default ${'('.repeat(1_500_000)}` })
  const good = await createFolder(t, { 'index.ts': 'export default { a: 1 }' })
  const sdkFolder = await createSdk(t)
  // In a process of its own, which keeps the long last words of esbuild out of the report.
  const program = `
    import { bundleScript } from ${JSON.stringify(new URL('../../host/bundle/bundle-script.ts', import.meta.url))}
    const [manifest, sdkFolder, ...folders] = ${JSON.stringify([createManifest(), sdkFolder, deep, good])}
    const results = []
    for (const folder of folders) results.push(await bundleScript(folder, manifest, { sdkFolder }))
    console.log(JSON.stringify(results))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  const [first, second] = JSON.parse(stdout)
  assert.match(textOf(first), /the bundler stopped while it read the script: it is nested too deeply/)
  assert.equal(JSON.stringify(run(second)), '{"a":1}')
})

test('a build that takes too long is ended, and the next one is bundled', async (t) => {
  const folder = await createFolder(t, { 'index.ts': 'export default { a: 1 }' })
  const sdkFolder = await createSdk(t)
  assert.match(
    textOf(await bundleScript(folder, createManifest(), { sdkFolder, timeoutMs: 0 })),
    /not ready after 0 ms/,
  )
  assert.equal(JSON.stringify(run(await bundleScript(folder, createManifest(), { sdkFolder }))), '{"a":1}')
})

test('a stack from the isolate shows the file and line of the author', async (t) => {
  const result = await bundle(t, {
    'index.ts': `import { fail } from './lib/fail.ts'\nexport default { go: () => fail(1) }\n`,
    'lib/fail.ts': `type N = number\n\nexport function fail(n: N): never {\n  throw new Error('no ' + n)\n}\n`,
  })
  const { go } = run(result)
  let stack = ''
  try {
    ;(go as () => void)()
  } catch (error) {
    stack = (error as Error).stack ?? ''
  }
  assert.match(stack, /annex:sample:\d+:\d+/)
  const mapped = mapStack(stack, result.bundle?.map ?? '', { integration: 'sample', folderName: 'sample' })
  assert.match(mapped, /at fail \(sample\/lib\/fail\.ts:4:9\)/)
  assert.match(mapped, /sample\/index\.ts:2:28/)
})

/** Imports that find nothing for another reason than a package that is not installed. */
const misleading: Record<string, { files: Files; says: RegExp; hint: RegExp }> = {
  'an alias that no package can have': {
    files: { 'index.ts': `import '@/lib/a'`, 'lib/a.ts': '' },
    says: /"@\/lib\/a" is no package, and "paths" of tsconfig\.json are not read$/m,
    hint: /"imports": \{ "#lib\/\*": "\.\/lib\/\*" \}/,
  },
  'a path of tsconfig.json': {
    files: {
      'index.ts': `import 'lib/a'`,
      'lib/a.ts': '',
      'tsconfig.json': '{ "compilerOptions": { /* ours */ "paths": { "lib/*": ["./lib/*"], } } }',
    },
    says: /"lib\/a" is no package, and "paths" of tsconfig\.json are not read$/m,
    hint: /write a path that begins with \.\//,
  },
  'a missing entry of "imports"': {
    files: { 'index.ts': `import '#lib/a'`, 'package.json': '{}' },
    says: /"imports" in package\.json leads to no file for "#lib\/a"$/m,
    hint: /"imports": \{/,
  },
  'a private part of a package': {
    files: {
      'index.ts': `import 'pkg/inner.js'`,
      'node_modules/pkg/package.json': '{"exports":"./index.js"}',
      'node_modules/pkg/index.js': '',
      'node_modules/pkg/inner.js': '',
    },
    says: /the package "pkg" is there, and has nothing to import as "pkg\/inner\.js"$/m,
    hint: /"exports"/,
  },
  'a package without its built files': {
    files: { 'index.ts': `import 'pkg'`, 'node_modules/pkg/package.json': '{"main":"./dist/index.js"}' },
    says: /the package "pkg" is there, and has nothing to import as "pkg"$/m,
    hint: /"main"/,
  },
}

for (const [what, { files, says, hint }] of Object.entries(misleading)) {
  test(`an import that finds nothing has its reason: ${what}`, async (t) => {
    const text = textOf(await bundle(t, files))
    assert.match(text, says)
    assert.match(text, hint)
  })
}

test('the hint for an alias works', async (t) => {
  const result = await bundle(t, {
    'index.ts': `import x from '#lib/a.ts'\nexport default { x }`,
    'package.json': '{ "imports": { "#lib/*": "./lib/*" } }',
    'lib/a.ts': `export default 'found'`,
  })
  assert.equal(run(result).x, 'found')
})
