import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { keepBuild } from './build-cache.ts'

const folder = fileURLToPath(new URL('../../runtime/process/', import.meta.url))

const recipe = fileURLToPath(import.meta.url)

/**
 * The code of a sandbox process, and of those that are started in its place: the probe tries the wall, and the other one
 * makes the snapshot of the web platform.
 */
export type ProcessCode = { main: string; probe: string; snapshotMaker: string }

/**
 * Bundles `runtime/process` into one CommonJS text for each. A sandbox process reads it from its standard input: it
 * starts in half the time that it takes to find, read and strip the sources, and it needs no file to be readable but
 * those of the native module.
 */
export async function buildProcessCode(): Promise<ProcessCode> {
  return loadAll((name) => bundle(`${name}.ts`))
}

/** As `buildProcessCode`, from `cacheFolder` if it lies there. */
export async function loadProcessCode({ cacheFolder }: { cacheFolder: string }): Promise<ProcessCode> {
  return loadAll(
    async (name) => (await keepBuild({ name, cacheFolder, recipe, build: () => bundle(`${name}.ts`) })).code,
  )
}

async function loadAll(load: (name: string) => Promise<string>): Promise<ProcessCode> {
  const [main, probe, snapshotMaker] = await Promise.all([
    load('main'),
    load('probe'),
    load('snapshot-maker'),
  ])
  return { main, probe, snapshotMaker }
}

async function bundle(name: string): Promise<string> {
  const file = join(folder, name)
  const result = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node26',
    // Where it is to look for the native module.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
    legalComments: 'none',
    logLevel: 'silent',
  })
  const code = result.outputFiles[0]?.text
  if (code === undefined) throw new Error(`esbuild gave no code of ${name}`)
  return code
}
