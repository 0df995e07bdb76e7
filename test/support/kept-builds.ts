import { hash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
