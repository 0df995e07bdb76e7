import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toCompilerSettings } from '../../host/bundle/compiler-options.ts'
import { readTsconfig, type Tsconfig } from '../../host/bundle/read-tsconfig.ts'
import { loadSettings } from '../../host/config/load-settings.ts'
import { sideBySide } from '../../host/side-by-side.ts'
import { listPluginFolders } from '../../host/versions/plugins-dir.ts'

/**
 * Checks the scripts of plugin folders with TypeScript, each folder apart: the given ones, or all in PLUGINS_DIR.
 * The options are those of `plugins/tsconfig.json`. In a folder with a `tsconfig.json` its own decide, without what it extends.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const base = join(root, 'plugins/tsconfig.json')

/** The options that decide what the compiler finds, and that every compiler since TypeScript 5 knows. */
const deciding = [
  ...[
    'strict',
    'strictNullChecks',
    'strictFunctionTypes',
    'strictBindCallApply',
    'strictPropertyInitialization',
  ],
  ...['strictBuiltinIteratorReturn', 'noImplicitAny', 'noImplicitThis', 'useUnknownInCatchVariables'],
  ...['noUnusedLocals', 'noUnusedParameters', 'noImplicitReturns', 'noFallthroughCasesInSwitch'],
  ...['noUncheckedIndexedAccess', 'noImplicitOverride', 'noPropertyAccessFromIndexSignature'],
  ...['exactOptionalPropertyTypes', 'allowUnusedLabels', 'allowUnreachableCode', 'allowJs', 'checkJs'],
  ...['isolatedModules', 'verbatimModuleSyntax', 'erasableSyntaxOnly', 'useDefineForClassFields', 'types'],
]

type Config = Record<string, unknown>

function toProject(folder: string, tsconfig: Tsconfig): Config {
  const { config, options } = tsconfig
  const at = (patterns: unknown): string[] => texts(patterns).map((pattern) => join(folder, pattern))
  const has = (name: string) => Array.isArray(config[name])
  const own = Object.fromEntries(
    deciding.filter((name) => name in options).map((name) => [name, options[name]]),
  )
  return {
    extends: base,
    compilerOptions: {
      // Without the option, compilers up to TypeScript 5 are not strict.
      ...(tsconfig.isThere && { strict: false }),
      ...own,
      ...(Array.isArray(options.lib) && { lib: withWebPlatform(texts(options.lib)) }),
      ...jsxOptions(tsconfig),
      typeRoots: at(['node_modules/@types', 'node_modules']),
    },
    ...(has('files') && { files: at(config.files) }),
    include: has('include') ? at(config.include) : has('files') ? [] : at(['**/*.ts', '**/*.tsx']),
    exclude: at([
      ...texts(config.exclude),
      ...['**/node_modules', '**/*.test.*', '**/*.spec.*', 'test', 'tests', '**/__tests__'],
    ]),
  }
}

/** The same functions as in the bundle. */
function jsxOptions(tsconfig: Tsconfig): Config {
  const { jsx, jsxImportSource, jsxFactory, jsxFragment } = toCompilerSettings(tsconfig).settings
  if (jsx === 'automatic') return { jsx: 'react-jsx', jsxImportSource }
  const fragment = jsxFragment === undefined ? {} : { jsxFragmentFactory: jsxFragment }
  return { jsx: 'react', jsxImportSource: null, jsxFactory, ...fragment }
}

/** A script that names a language alone gets the web platform by the types of its old host. */
const withWebPlatform = (libraries: string[]): string[] =>
  libraries.some((name) => /^(dom|webworker)/i.test(name)) ? libraries : [...libraries, 'WebWorker']

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

/** @returns what the compiler has to say of the folder's own files */
async function compileFolder(folder: string): Promise<string> {
  const path = resolve(folder)
  const project = toProject(path, await readTsconfig(path, undefined))
  const temporary = mkdtempSync(join(tmpdir(), 'annex-compile-'))
  try {
    writeFileSync(join(temporary, 'tsconfig.json'), JSON.stringify(project))
    return withoutSdk(await runCompiler(temporary))
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

const runCompiler = (project: string): Promise<string> =>
  new Promise((done) => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    execFile(process.execPath, [tsc, '-p', project, '--pretty', 'false'], (error, stdout, stderr) =>
      done(stdout + stderr || (error === null ? '' : error.message)),
    )
  })

/** The sources of the SDK are written for the options of Annex. */
function withoutSdk(told: string): string {
  const sdk = ['runtime', 'schemas'].map((name) => join(relative(process.cwd(), root), name))
  const messages = told.split(/\n(?! )/)
  return messages.filter((message) => !sdk.some((path) => message.startsWith(`${path}/`))).join('\n')
}

const named = process.argv.slice(2)
const folders =
  named.length > 0
    ? named
    : await listPluginFolders({ path: loadSettings().settings.PLUGINS_DIR, isDefault: false })
for (const told of await sideBySide(folders, availableParallelism(), compileFolder)) {
  if (told.trim() === '') continue
  console.log(told.trimEnd())
  process.exitCode = 1
}
