import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { type Build, cacheBuild } from './build-cache.ts'

const webFolder = fileURLToPath(new URL('../../runtime/web', import.meta.url))
const processFolder = fileURLToPath(new URL('../../runtime/process', import.meta.url))

/** Its digest is part of the cache's keys. */
const recipe = fileURLToPath(import.meta.url)

/** The prelude of each isolate: `runtime/web` as one script, from the cache when it is there. */
export const buildPrelude = ({ cacheFolder }: { cacheFolder: string }): Promise<Build> =>
  cacheBuild({ name: 'prelude', cacheFolder, recipe, build: bundlePrelude })

/** Like `buildPrelude`, without a cache. */
export const bundlePrelude = async (): Promise<string> => {
  const result = await build({
    entryPoints: [path.join(webFolder, 'prelude.ts')],
    // Libraries in the bundle use these globals, which do not exist yet.
    inject: [path.join(webFolder, 'bundled-globals.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2024',
    minifySyntax: true,
    minifyWhitespace: true,
    // The stacks in an integration's log show names.
    minifyIdentifiers: false,
    plugins: [tablesOnDemand, utf8OfThePlatform],
    legalComments: 'none',
    // V8 keeps the source in the snapshot. One letter outside Latin-1 doubles its size.
    charset: 'ascii',
    logLevel: 'silent',
  })
  const code = result.outputFiles[0]?.text
  if (code === undefined) throw new Error('esbuild gave no prelude')
  // Attack: `caller` and `arguments` of sloppy functions expose the internals to a script.
  return `"use strict";${code}`
}

/** The sandbox process provides the tables of legacy encodings when a script decodes such a text. */
const tablesOnDemand: Plugin = {
  name: 'tables-on-demand',
  setup: ({ onLoad }) =>
    onLoad({ filter: /multi-byte\.encodings\.cjs$/ }, () => ({
      contents: "import { ask } from './ask.ts'\nexport default () => JSON.parse(ask('encoding-tables'))",
      resolveDir: webFolder,
    })),
}

/** The library's decoders use the platform's own UTF-8. */
const utf8OfThePlatform: Plugin = {
  name: 'utf8-of-the-platform',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@exodus\/bytes\/utf8\.js$/ }, ({ importer }) =>
      importer.includes('node_modules')
        ? { path: path.join(webFolder, 'encoding/utf8-codec.ts') }
        : undefined,
    ),
}

/** The code of a sandbox process, of the probe that tries the wall, and of the process that makes the snapshot. */
export type ProcessCode = { main: string; probe: string; snapshotMaker: string }

/**
 * Bundles `runtime/process` into one CommonJS text for each process, which reads it from its standard input. So a sandbox
 * process starts in half the time and needs to read no files except those of the native module.
 */
export const buildProcessCode = (): Promise<ProcessCode> => toProcessCode(bundleProcess)

/** Like `buildProcessCode`, from the cache when it is there. */
export const loadProcessCode = ({ cacheFolder }: { cacheFolder: string }): Promise<ProcessCode> =>
  toProcessCode(async (name) => {
    const { code } = await cacheBuild({ name, cacheFolder, recipe, build: () => bundleProcess(name) })
    return code
  })

async function toProcessCode(build: (name: string) => Promise<string>): Promise<ProcessCode> {
  const [main, probe, snapshotMaker] = await Promise.all([
    build('main'),
    build('probe'),
    build('snapshot-maker'),
  ])
  return { main, probe, snapshotMaker }
}

async function bundleProcess(name: string): Promise<string> {
  const file = path.join(processFolder, `${name}.ts`)
  const result = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node26',
    // The native module is found relative to it.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
    legalComments: 'none',
    logLevel: 'silent',
  })
  const code = result.outputFiles[0]?.text
  if (code === undefined) throw new Error(`esbuild gave no code of ${name}`)
  return code
}
