import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
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

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'annex-builds-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
