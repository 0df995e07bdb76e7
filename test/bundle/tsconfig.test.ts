import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Bundling, bundleScript } from '../../host/bundle/bundle-script.ts'
import { loadBundle } from '../../host/bundle/load-bundle.ts'
import { bundle, type Files, run, textOf } from './bundling.ts'
import { addFiles, createFolder, createManifest, createSdk } from './plugin-folder.ts'

const withOptions = (compilerOptions: object, files: Files = {}): Files => ({
  'index.tsx': '',
  'tsconfig.json': JSON.stringify({ compilerOptions }),
  ...files,
})

const textsOf = ({ problems }: Bundling): string[] => problems.map(({ message }) => message)

/** What the script exports by default. Warnings are compared apart. */
const exported = (bundling: Bundling): unknown =>
  JSON.parse(JSON.stringify(run({ ...bundling, problems: [] })))

const setters = `class Base { log = []; set x(value) { this.log.push(value) } }
class Derived extends Base { x = 1 }
export default { log: new Derived().log }`

const element = { 'index.tsx': `export default <text><a />{'hi'}</text>` }
const calls = `const h = Object.assign((type, props, ...children) => [type, ...children], { x: () => 'other' })
const Part = 'part'
export default { made: <><text>{'hi'}</text></> }`

const read: [string, object, Files, unknown][] = [
  [
    'useDefineForClassFields: false',
    { useDefineForClassFields: false },
    { 'index.tsx': setters },
    { log: [1] },
  ],
  ['useDefineForClassFields: true', { useDefineForClassFields: true }, { 'index.tsx': setters }, { log: [] }],
  [
    'useDefineForClassFields beside an old target',
    { target: 'ES5', useDefineForClassFields: true },
    { 'index.tsx': setters },
    { log: [] },
  ],
  [
    'jsxImportSource of a package',
    { jsx: 'react-jsx', jsxImportSource: 'made' },
    {
      ...element,
      'node_modules/made/package.json': '{"exports":{"./jsx-runtime":"./jsx.js"}}',
      'node_modules/made/jsx.js': 'export const jsx = (type) => ({ made: type }); export const jsxs = jsx',
    },
    { made: 'text' },
  ],
  [
    'jsxImportSource of the SDK by its other name',
    { jsx: 'React-JSX', jsxImportSource: '@gitbook/runtime' },
    { 'index.tsx': `export default <text>{'hi'}</text>` },
    { type: 'text', children: 'hi' },
  ],
  [
    'jsxFactory and jsxFragmentFactory',
    { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Part' },
    { 'index.tsx': calls },
    { made: ['part', ['text', 'hi']] },
  ],
  [
    'jsxFactory as a path',
    { jsxFactory: 'h.x', jsxFragmentFactory: 'Part' },
    { 'index.tsx': calls },
    { made: 'other' },
  ],
]

describe('a tsconfig.json of a plugin folder: the bundle follows', () => {
  for (const [name, options, files, expected] of read) {
    test(name, async (t) => {
      const bundling = await bundle(t, withOptions(options, files), 'index.tsx')
      assert.deepEqual([textsOf(bundling), exported(bundling)], [[], expected])
    })
  }

  test('the pragma of a file first', async (t) => {
    const files = {
      'index.tsx': `/** @jsxRuntime automatic @jsxImportSource @annex/runtime */\n${element['index.tsx']}`,
    }
    const bundling = await bundle(t, withOptions({ jsx: 'react', jsxFactory: 'h' }, files), 'index.tsx')
    assert.equal((exported(bundling) as { type: string }).type, 'text')
  })
})

/** Each option that Annex does not read, with a value that would change what runs. */
const named: Record<string, unknown> = {
  alwaysStrict: false,
  baseUrl: '.',
  customConditions: ['development'],
  emitDecoratorMetadata: true,
  esModuleInterop: false,
  experimentalDecorators: true,
  importsNotUsedAsValues: 'preserve',
  jsx: 'preserve',
  jsxFragmentFactory: 'Fragment',
  moduleDetection: 'Force',
  moduleSuffixes: ['.web', ''],
  noImplicitUseStrict: true,
  paths: { 'lib/*': ['./lib/*'] },
  preserveSymlinks: true,
  preserveValueImports: true,
  reactNamespace: 'dom',
  resolvePackageJsonExports: false,
  resolvePackageJsonImports: false,
  rootDirs: ['src', 'generated'],
  target: 'ES2021',
  verbatimModuleSyntax: true,
}

/** What types and checks alone need, and values that Annex has anyway. */
const unnamed = {
  ...{ strict: true, lib: ['ES2022', 'DOM'], types: ['node'], module: 'ESNext', moduleResolution: 'bundler' },
  ...{ noEmit: true, downlevelIteration: true, esModuleInterop: true, isolatedModules: true, allowJs: true },
  ...{
    experimentalDecorators: false,
    emitDecoratorMetadata: false,
    verbatimModuleSyntax: false,
    jsx: 'react-jsx',
  },
  ...{ target: 'ES2022', moduleDetection: 'auto', paths: null, preserveSymlinks: false, outDir: './dist' },
}

test('a warning names each unsupported option, at its line', async (t) => {
  const folder = await createFolder(t, {
    'index.ts': 'export default {}',
    'tsconfig.json': JSON.stringify({ extends: './base.json', compilerOptions: named }, undefined, 2),
    'base.json': '{"compilerOptions":{"removeComments":true}}',
  })
  const { problems, bundle: made } = await bundleScript(folder, createManifest(), {
    sdkFolder: await createSdk(t),
  })
  assert.ok(made)
  assert.equal(problems.length, Object.keys(named).length)
  for (const [index, problem] of problems.entries()) {
    const name = Object.keys(named)[index]
    assert.ok(problem.message.startsWith(`"${name}" of tsconfig.json is not read: `), problem.message)
    assert.deepEqual([problem.severity, problem.file], ['warning', join(folder, 'tsconfig.json')])
    assert.match(problem.frame, new RegExp(`> .*"${name}"|"${name}".*\\n.*\\^`))
  }
})

test('options for type checks cause no warnings', async (t) => {
  assert.deepEqual(
    textsOf(await bundle(t, withOptions(unnamed, { 'index.tsx': 'export default {}' }), 'index.tsx')),
    [],
  )
})

const half: [string, object, RegExp[]][] = [
  ['a factory beside "react-jsx"', { jsx: 'react-jsx', jsxFactory: 'h' }, [/^"jsxFactory" .* "react-jsx"$/]],
  [
    'a factory beside an import source',
    { jsxFactory: 'h', jsxImportSource: '@annex/runtime' },
    [/^"jsxFactory" /],
  ],
  [
    'an import source beside a factory and "react"',
    { jsx: 'react', jsxFactory: 'String', jsxImportSource: 'x' },
    [/^"jsxImportSource" .* JSX calls "jsxFactory"$/],
  ],
  [
    '"react" without a factory',
    { jsx: 'react' },
    [/^"jsx" of tsconfig\.json is not read: JSX is compiled as "react-jsx"$/],
  ],
  ['a factory of another type', { jsxFactory: 5 }, [/^"jsxFactory" .* it is 5, and no name of a function$/]],
  [
    'code as a factory',
    { jsxFactory: 'alert(1)//' },
    [/^"jsxFactory" .* it is "alert\(1\)\/\/", and no name/],
  ],
  ['an empty import source', { jsxImportSource: '' }, [/^"jsxImportSource" .* no name of a package$/]],
  [
    'a text for a boolean',
    { useDefineForClassFields: 'false' },
    [/^"useDefineForClassFields" .* no boolean$/],
  ],
]

describe('a contradictory tsconfig.json leaves JSX to the SDK, with a warning for:', () => {
  for (const [name, options, says] of half) {
    test(name, async (t) => {
      const bundling = await bundle(t, withOptions(options, element), 'index.tsx')
      const texts = textsOf(bundling)
      assert.equal(texts.length, says.length, texts.join('\n'))
      for (const [index, pattern] of says.entries()) assert.match(texts[index] ?? '', pattern)
      if (!name.endsWith('and "react"')) assert.equal((exported(bundling) as { type: string }).type, 'text')
    })
  }
})

test('an import source that is not installed, or leads outside, is an error with its reason', async (t) => {
  for (const [source, says] of [
    ['preact', /the package "preact\/jsx-runtime" is not installed in the plugin folder/],
    ['../../../etc', /lies outside the plugin folder/],
    ['https://evil.example', /cannot be imported: only files are/],
    ['node:fs', /is a module of Node/],
  ] as const) {
    assert.match(
      textOf(await bundle(t, withOptions({ jsxImportSource: source }, element), 'index.tsx')),
      says,
    )
  }
})

const deep = '['.repeat(100_000)

/** A file, and the one warning that it has; none where it is fine. */
const hostile: [string, string | Uint8Array, RegExp | undefined][] = [
  ['empty', '', /is not read: Unexpected end/],
  ['with nothing but a comment', '// none', /is not read: Unexpected end/],
  ['a list', '[]', /is not read: it is no object/],
  ['null', 'null', /is not read: it is no object/],
  ['with a list of options', '{"compilerOptions":[]}', /"compilerOptions" is no object/],
  ['with a text as options', '{"compilerOptions":"x"}', /"compilerOptions" is no object/],
  ['without options', '{"extends":"/etc/passwd","files":["/etc/passwd"]}', undefined],
  ['of 10 MB', ' '.repeat(10 * 1024 * 1024), /is not read: it has \d+ bytes; at most 262144 are read/],
  ['of 200,000 brackets', `${deep}${deep.slice(0, 50_000)}`, /is not read: /],
  ['with an endless comment', `/*${'/*'.repeat(120_000)}`, /is not read: /],
  ['with an endless text', `{"${'\\"'.repeat(120_000)}\\`, /is not read: /],
  ['with many commas', `{${','.repeat(250_000)}}`, /is not read: /],
  ['in UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /is not read: /],
  [
    'of bytes that are not text',
    Uint8Array.from({ length: 1000 }, (_, index) => index % 256),
    /is not read: /,
  ],
  [
    'with __proto__',
    '{"compilerOptions":{"__proto__":{"jsx":"react","jsxFactory":"h"},"constructor":1}}',
    undefined,
  ],
]

describe('a hostile tsconfig.json does not stop the bundle:', () => {
  for (const [name, text, says] of hostile) {
    test(name, { timeout: 60_000 }, async (t) => {
      const bundling = await bundle(t, { ...element, 'tsconfig.json': text }, 'index.tsx')
      const [found, ...more] = textsOf(bundling)
      assert.deepEqual(more, [])
      if (says === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', says)
      assert.equal((exported(bundling) as { type: string }).type, 'text')
    })
  }
})

test('comments, trailing commas and a byte order mark are read, and texts with their characters stay', async (t) => {
  const text = `\ufeff// "useDefineForClassFields": true
{ /* { */ "compilerOptions": { "outDir": "/*,}//", // "
  "useDefineForClassFields"/**/: false, /* , */ }, }`
  const bundling = await bundle(t, { 'index.tsx': setters, 'tsconfig.json': text }, 'index.tsx')
  assert.deepEqual([textsOf(bundling), exported(bundling)], [[], { log: [1] }])
})

test('a tsconfig.json may be a link within the folder only', async (t) => {
  const sdkFolder = await createSdk(t)
  const folder = await createFolder(t, {
    'index.ts': setters,
    'config/real.json': '{"compilerOptions":{"useDefineForClassFields":false}}',
  })
  await symlink('config/real.json', join(folder, 'tsconfig.json'))
  assert.deepEqual(exported(await bundleScript(folder, createManifest(), { sdkFolder })), { log: [1] })
  const other = await createFolder(t, { 'index.ts': setters })
  await symlink('/etc/passwd', join(other, 'tsconfig.json'))
  assert.match(
    textOf(await bundleScript(other, createManifest(), { sdkFolder })),
    /leads outside the plugin folder/,
  )
  const broken = await createFolder(t, { 'index.ts': setters })
  await symlink('none.json', join(broken, 'tsconfig.json'))
  assert.deepEqual(textsOf(await bundleScript(broken, createManifest(), { sdkFolder })), [])
})

test('a change of tsconfig.json replaces a cached bundle, and its warnings are cached', async (t) => {
  const folder = await createFolder(t, { 'index.ts': setters })
  const options = { sdkFolder: await createSdk(t), cacheFolder: await createFolder(t, {}) }
  const load = () => loadBundle(folder, createManifest(), options)
  const write = (compilerOptions: object) =>
    addFiles(folder, { 'tsconfig.json': JSON.stringify({ compilerOptions }) })
  const first = await load()
  assert.deepEqual([first.cached, exported(first)], [false, { log: [] }])
  assert.equal((await load()).cached, true)
  await write({ useDefineForClassFields: false, paths: {} })
  const second = await load()
  assert.deepEqual([second.cached, exported(second)], [false, { log: [1] }])
  assert.notEqual(second.bundle?.code, first.bundle?.code)
  const third = await load()
  assert.deepEqual([third.cached, textsOf(third)], [true, textsOf(second)])
  assert.match(textsOf(third)[0] ?? '', /^"paths"/)
  // The code is the same again, and with it the version.
  await write({ useDefineForClassFields: true })
  assert.equal((await load()).bundle?.code, first.bundle?.code)
})

const decorated = (kind: string) => `const seen${kind === 'ts' ? ': string[]' : ''} = []
const see = (value, { kind, name }) => { seen.push(kind + ' ' + String(name)) }
const twice = (method, context) => function () { return method.call(this) * 2 }
const late = (_, { addInitializer }) => { addInitializer(function () { this.ready = true }) }
const from = (value, { kind }) => kind === 'accessor'
  ? { init: (start) => start + 1, get() { return value.get.call(this) * 10 } }
  : (start) => start + 100
@see class Decorated {
  @see @twice count() { return this.#secret() + this.field }
  @from accessor size = 1
  @from field = 1
  @see static accessor shared = 's'
  @see get now() { return 1 }
  @see set now(value) {}
  @see #secret() { return 1 }
  @late m() {}
}
class Plain { accessor free = 5; static accessor all = 6 }
const one = new Decorated()
export default { seen, values: [one.count(), one.size, one.field, one.ready, Decorated.shared, new Plain().free, Plain.all] }`

for (const kind of ['ts', 'js']) {
  test(`decorators and "accessor" work as TypeScript 5 has them, in a .${kind} file`, async (t) => {
    const script = `index.${kind}`
    const bundling = await bundle(t, { [script]: decorated(kind) }, script)
    assert.deepEqual(textsOf(bundling), [])
    const { seen, values } = exported(bundling) as { seen: string[]; values: unknown[] }
    assert.deepEqual(values, [204, 20, 101, true, 's', 5, 6])
    assert.deepEqual(
      new Set(seen),
      new Set([
        'class Decorated',
        'accessor shared',
        'method count',
        'getter now',
        'setter now',
        'method #secret',
      ]),
    )
  })
}

test('a decorator of a parameter is refused with its reason', async (t) => {
  for (const compilerOptions of [{}, { experimentalDecorators: true }]) {
    const files = {
      'index.ts':
        'const d = () => {}\nexport default class { constructor(@d readonly a: string) {} m(@d b: number) {} }',
      'tsconfig.json': JSON.stringify({ compilerOptions }),
    }
    const text = textOf(await bundle(t, files))
    assert.match(
      text,
      /^index\.ts:2:\d+ error a parameter cannot have a decorator: decorators are those of TypeScript 5/m,
    )
    assert.match(text, /hint: decorate the class/)
  }
})
