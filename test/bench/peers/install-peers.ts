import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const installMs = 300_000
const lockFile = new URL('package-lock.json', import.meta.url)
/** What was installed: the lock file as it was then. */
const installed = new URL('node_modules/.installed-lock.json', import.meta.url)

/**
 * Installs the peers into this folder, in the versions of its lock file, when that is not done yet. Annex itself uses
 * none of them.
 *
 * @throws Error when npm cannot
 */
export async function installPeers(): Promise<void> {
  const locked = readFileSync(lockFile, 'utf8')
  if (readInstalled() === locked) return
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']
  await promisify(execFile)('npm', args, {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    timeout: installMs,
  })
  writeFileSync(installed, locked)
}

function readInstalled(): string | undefined {
  try {
    return readFileSync(installed, 'utf8')
  } catch {
    return undefined
  }
}
