import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type BuildResult, build, type Plugin } from 'esbuild'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { createProblem, hasErrors, type Problem } from '../manifest/problem.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { readInside } from '../manifest/read-inside.ts'
import { EsbuildTimeout, runEsbuild } from '../manifest/run-esbuild.ts'
import { messagesOf, toProblem } from './bundle-problems.ts'
import { confineImports, type ReadFiles, type Roots, withoutNamespace } from './confine-imports.ts'
import { listPluginFiles } from './list-plugin-files.ts'

export const maxBundleBytes = 5 * 1024 * 1024
const defaultTimeoutMs = 30_000

/**
 * A script with all that it imports, as one text to run in an isolate: `__annexDefine(function (module) { … })`,
 * which sets `module.exports`. `map` is its source map (JSON); its sources are relative to the plugin folder, those
 * of the SDK begin with `@annex/runtime/`. `inputs` has the SHA-256 of each file that went in, by the same names.
 */
export type Bundle = { code: string; map: string; inputs: Record<string, string> }

/** `bundle` is there when no problem is an error. */
export type Bundling = { bundle?: Bundle; problems: Problem[] }

export type BundleOptions = {
  /** Holds `index.ts` and `jsx-runtime.ts`. */
  sdkFolder: string
  timeoutMs?: number
  /** Refused where a script imports them. */
  ownFiles?: OwnFiles | undefined
}

/**
 * Bundles the script of an integration. Reads no file outside the plugin folder and the SDK, whatever the script,
 * its packages and their settings ask for. Never throws for what is in the folder.
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
  const result = await runBuild(roots, read, manifest.script, options.timeoutMs ?? defaultTimeoutMs)
  if ('failed' in result) return refuse(result.failed)

  const problems = await Promise.all(
    messagesOf(result).map(({ severity, message }) =>
      toProblem(folder, severity, message, (path) => readText(roots, path)),
    ),
  )
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

async function runBuild(
  roots: Roots,
  read: ReadFiles,
  script: string,
  timeoutMs: number,
): Promise<BuildResult | { failed: string }> {
  try {
    return await runEsbuild(() => build(toOptions(roots, read, script)).catch(keepFailure), timeoutMs)
  } catch (error) {
    if (error instanceof EsbuildTimeout) return { failed: `the bundle was not ready after ${timeoutMs} ms` }
    return { failed: 'the bundler stopped while it read the script: it is nested too deeply' }
  }
}

function toOptions(roots: Roots, read: ReadFiles, script: string) {
  const confine: Plugin = confineImports(roots, read)
  return {
    absWorkingDir: roots.plugin,
    entryPoints: [resolve(roots.plugin, script)],
    outfile: join(roots.plugin, 'bundle.js'),
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    // 'import' and 'require' are esbuild's own, each for its kind: named here, `require` would be given modules.
    conditions: ['worker', 'browser', 'module'],
    mainFields: ['browser', 'module', 'main'],
    format: 'cjs',
    target: 'esnext',
    // Comments would name the SDK's folder, and so the same sources would make another version elsewhere.
    minifyWhitespace: true,
    charset: 'utf8',
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: true,
    jsx: 'automatic',
    jsxImportSource: '@annex/runtime',
    // Given, so that no tsconfig.json is looked for: its `extends` and `paths` could name any file.
    tsconfigRaw: { compilerOptions: {} },
    nodePaths: [],
    define: { 'process.env.NODE_ENV': '"production"' },
    // A CommonJS entry may fill `exports` and never name `module`.
    banner: { js: '__annexDefine(function (module) { var exports = module.exports;' },
    footer: { js: '})' },
    logLevel: 'silent',
    logLimit: 0,
    plugins: [confine],
  } as const satisfies Parameters<typeof build>[0]
}

/** A build that fails throws what it would have returned. Anything else is esbuild itself failing. */
function keepFailure(error: unknown): BuildResult {
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

/** The text of a file that esbuild complains about, for the frame; empty when it is not ours to show. */
async function readText({ plugin, ownFiles }: Roots, path: string): Promise<string> {
  const reading = await readInside(plugin, path, maxBundleBytes, ownFiles)
  return 'bytes' in reading ? reading.bytes.toString('utf8') : ''
}

const wrapNothing = (): Bundle => ({
  code: '__annexDefine(function (module) {})\n',
  map: JSON.stringify({ version: 3, sources: [], names: [], mappings: '' }),
  inputs: {},
})
