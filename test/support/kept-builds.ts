import { hash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Reuse } from '../../host/start/start-sandboxes.ts'

/** One for all tests of a run, which `make test` makes and removes; else one of this process's own. */
export const buildsFolder = process.env.TEST_BUILDS_FOLDER ?? makeFolder()

/**
 * Has an Annex that starts on this data folder keep its bundles where the others of this run keep theirs: each is built
 * once, by the first that needs it. They lie there under the digest of what they were built from.
 */
export function shareBuilds(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true })
  symlinkSync(buildsFolder, join(dataDir, 'cache'))
}

/** Gives a plugin folder the types that Annex made for another test with the same manifest. */
export function takeTypes(pluginFolder: string): void {
  const { kept, types } = typesOf(pluginFolder)
  if (existsSync(kept) && !existsSync(types)) cpSync(kept, types)
}

/** Keeps the types of a plugin folder that Annex has loaded. */
export function keepTypes(pluginFolder: string): void {
  const { kept, types } = typesOf(pluginFolder)
  if (existsSync(types) && !existsSync(kept)) cpSync(types, kept)
}

/**
 * Keeps what a start finds out by a process of its own: the wall of this machine, and how a script loads. A script that cannot
 * be loaded is tried each time.
 */
export const reuse: Reuse = {
  wall: (required, reach) => keep(`wall ${required.join()}`, reach, () => true),
  tryLoad: (tryLoad) => (version) =>
    keep(
      `tried/${hash('sha256', `${version.integration} ${version.code}`)}`,
      () => tryLoad(version),
      ({ failure }) => failure === undefined,
    ),
}

async function keep<Value>(
  name: string,
  find: () => Promise<Value>,
  isKept: (value: Value) => boolean,
): Promise<Value> {
  const file = join(buildsFolder, name)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const value = await find()
  if (!isKept(value)) return value
  mkdirSync(dirname(file), { recursive: true })
  // Another process may read it at any time.
  const whole = `${file}.${randomUUID()}`
  writeFileSync(whole, JSON.stringify(value))
  renameSync(whole, file)
  return value
}

function typesOf(pluginFolder: string): { kept: string; types: string } {
  const manifest = readFileSync(join(pluginFolder, 'service-manifest.yaml'))
  return {
    kept: join(buildsFolder, 'types', hash('sha256', manifest)),
    types: join(pluginFolder, 'generated', 'integration.ts'),
  }
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'annex-builds-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
