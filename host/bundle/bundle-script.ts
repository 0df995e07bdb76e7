import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type BuildResult, build } from 'esbuild'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { createProblem, hasErrors, type Problem } from '../manifest/problem.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { readInside } from '../manifest/read-inside.ts'
import { messagesOf, toProblem } from './bundle-problems.ts'
import { type CompilerSettings, toCompilerSettings } from './compiler-options.ts'
import { confineImports, type ReadFiles, type Roots, withoutNamespace } from './confine-imports.ts'
import { listPluginFiles } from './list-plugin-files.ts'
import { readTsconfig } from './read-tsconfig.ts'
import { EsbuildTimeout, runEsbuild } from './run-esbuild.ts'

export const maxBundleBytes = 5 * 1024 * 1024
/** Elapsed time: on a busy machine a large package takes half a minute. */
const defaultTimeoutMs = 90_000

/**
 * A script with its imports, as one text for an isolate: `__annexDefine(function (module) { … })`, which sets
 * `module.exports`. `map` is its source map (JSON), with sources relative to the plugin folder; sources of the SDK begin
 * with `@annex/runtime/`. `inputs` has the SHA-256 of each source by the same names.
 */
export type Bundle = { code: string; map: string; inputs: Record<string, string> }

/** `bundle` is present when no problem is an error. */
export type Bundling = { bundle?: Bundle; problems: Problem[] }

export type BundleOptions = {
  /** The folder of `index.ts` and `jsx-runtime.ts`. */
  sdkFolder: string
  timeoutMs?: number
  /** A script cannot import these files. */
  ownFiles?: OwnFiles | undefined
}

/**
 * Bundles the script of an integration. Reads only files of the plugin folder and the SDK, whatever the script, its
 * packages and their settings name. Reports all mistakes, and throws for none of them.
 */
export async function bundleScript(
  folder: string,
  manifest: Pick<Manifest, 'script'>,
  options: BundleOptions,
): Promise<Bundling> {
  if (manifest.script === undefined) return { bundle: wrapNothing(), problems: [] }
  const file = join(folder, manifest.script)
  const refuse = (message: string, hint?: string): Bundling => ({
    problems: [createProblem(file, '', { line: 1, column: 1 }, { message, hint })],
  })
  const listing = await listPluginFiles(folder)
  if ('problem' in listing) return refuse(listing.problem)

  const roots = {
    plugin: await realpath(folder),
    sdk: await realpath(options.sdkFolder),
    ownFiles: options.ownFiles,
  }
  const read: ReadFiles = { bytes: 0, digests: {} }
  const { settings, warnings } = toCompilerSettings(await readTsconfig(folder, options.ownFiles))
  const { timeoutMs = defaultTimeoutMs } = options
  const result = await runBuild({ roots, read, settings, script: manifest.script }, timeoutMs)
  if ('failed' in result) return refuse(result.failed)

  const found = await Promise.all(
    messagesOf(result).map(({ severity, message }) =>
      toProblem(folder, severity, message, (path) => readText(roots, path)),
    ),
  )
  const problems = [...found, ...warnings]
  if (hasErrors(problems)) return { problems }
  const bundle = toBundle(result, read)
  const bytes = Buffer.byteLength(bundle.code)
  if (bytes > maxBundleBytes) {
    return refuse(
      `the bundle has ${bytes} bytes; at most ${maxBundleBytes} are allowed`,
      `largest files: ${largestInputs(result)}`,
    )
  }
  return { bundle, problems }
}

type Task = { roots: Roots; read: ReadFiles; settings: CompilerSettings; script: string }

async function runBuild(task: Task, timeoutMs: number): Promise<BuildResult | { failed: string }> {
  try {
    return await runEsbuild(() => build(toOptions(task)).catch(toFailedResult), timeoutMs)
  } catch (error) {
    if (error instanceof EsbuildTimeout) return { failed: `the bundle was not ready after ${timeoutMs} ms` }
    return { failed: 'the bundler stopped while it read the script: it is nested too deeply' }
  }
}

function toOptions({ roots, read, settings, script }: Task) {
  return {
    // With `tsconfigRaw` esbuild reads no tsconfig.json, whose `extends` and `paths` may name any file.
    ...settings,
    absWorkingDir: roots.plugin,
    entryPoints: [resolve(roots.plugin, script)],
    outfile: join(roots.plugin, 'bundle.js'),
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    // esbuild adds 'import' and 'require', each for its kind. Named here, a `require()` would get ES modules.
    conditions: ['worker', 'browser', 'module'],
    mainFields: ['browser', 'module', 'main'],
    format: 'cjs',
    target: 'esnext',
    // V8 has none yet.
    supported: { decorators: false },
    // Comments contain the SDK's path: the same sources would have another digest on another machine.
    minifyWhitespace: true,
    charset: 'utf8',
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: true,
    nodePaths: [],
    define: { 'process.env.NODE_ENV': '"production"' },
    // A CommonJS script may use `exports` without `module`.
    banner: { js: '__annexDefine(function (module) { var exports = module.exports;' },
    footer: { js: '})' },
    logLevel: 'silent',
    logLimit: 0,
    plugins: [confineImports(roots, read)],
  } as const satisfies Parameters<typeof build>[0]
}

/** A failed build throws its result. Any other error is a failure of esbuild itself. */
function toFailedResult(error: unknown): BuildResult {
  if (error instanceof Error && 'errors' in error && 'warnings' in error && !/service/.test(error.message)) {
    return error as unknown as BuildResult
  }
  throw error
}

function toBundle(result: BuildResult, read: ReadFiles): Bundle {
  const text = (suffix: string) =>
    result.outputFiles?.find((output) => output.path.endsWith(suffix))?.text ?? ''
  const map = JSON.parse(text('.js.map'))
  return {
    code: text('.js'),
    map: JSON.stringify({ ...map, sources: map.sources.map(withoutNamespace) }),
    inputs: read.digests,
  }
}

function largestInputs(result: BuildResult): string {
  return Object.entries(result.metafile?.inputs ?? {})
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(([path, { bytes }]) => `${path} (${bytes} bytes)`)
    .join(', ')
}

/** The text of a file for the frame; empty for files that must not be shown. */
async function readText({ plugin, ownFiles }: Roots, path: string): Promise<string> {
  const reading = await readInside(plugin, path, maxBundleBytes, ownFiles)
  return 'bytes' in reading ? reading.bytes.toString('utf8') : ''
}

const wrapNothing = (): Bundle => ({
  code: '__annexDefine(function (module) {})\n',
  map: JSON.stringify({ version: 3, sources: [], names: [], mappings: '' }),
  inputs: {},
})
