import { type ExecFileException, execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const installMs = 300_000
const lockFile = new URL('package-lock.json', import.meta.url)
/** What was installed: the lock file as it was then. */
const installed = new URL('node_modules/.installed-lock.json', import.meta.url)

let installing: Promise<void> | undefined

/**
 * Installs the peers into this folder, in the versions of its lock file, when that is not done yet. Annex itself uses
 * none of them. Tried once a run.
 *
 * @throws Error when npm cannot
 */
export function installPeers(): Promise<void> {
  installing ??= install()
  return installing
}

async function install(): Promise<void> {
  const locked = readFileSync(lockFile, 'utf8')
  if (readInstalled() === locked) return
  // What an install has left that was broken off would be taken for whole.
  rmSync(new URL('node_modules', import.meta.url), { recursive: true, force: true })
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const env = { ...process.env, PATH: machinesPath() }
  await promisify(execFile)('npm', args, { cwd, env, timeout: installMs }).catch(
    (error: ExecFileException) => {
      // Of one that it ends, npm's words do not say why.
      throw error.killed ? new Error(`npm install had not ended after ${installMs / 60_000} minutes`) : error
    },
  )
  writeFileSync(installed, locked)
}

/** PATH without the Node of Annex: npm reads the settings of the machine, such as a proxy, beside its Node. */
function machinesPath(): string {
  const folders = process.env.PATH?.split(delimiter) ?? []
  return folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin'))).join(delimiter)
}

function readInstalled(): string | undefined {
  try {
    return readFileSync(installed, 'utf8')
  } catch {
    return undefined
  }
}
