import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { AnnexError } from '../errors.ts'

/**
 * Locks a data folder for this process. A start may then release all leases of the previous process at once.
 *
 * The lock is a socket. The system closes it with the process, also after `kill -9`, so no stale lock remains.
 *
 * @returns unlocks the folder
 * @throws AnnexError `conflict` when another process has the lock, `settings_invalid` when the folder cannot be made
 */
export async function ownDataFolder(dataDir: string): Promise<() => Promise<void>> {
  makeFolder(dataDir)
  const name = `annex-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32)}`
  // Linux has socket names without files. On other systems the operator removes the file of a killed process.
  const address = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}.sock`)
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message =
        `Another Annex is using the data folder ${dataDir}. Stop it, or give this one another DATA_DIR.` +
        (process.platform === 'linux' ? '' : ` If none is running, remove ${address}.`)
      reject(cause.code === 'EADDRINUSE' ? new AnnexError('conflict', message, { cause }) : cause)
    })
    server.listen(address, resolve)
  })
  server.unref()
  return () => new Promise((resolve) => server.close(() => resolve()))
}

/** No other user of this machine may read the folder: it holds the key, the operator's token and the database. */
function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'there is a file at that path' : code
    throw new AnnexError('settings_invalid', `DATA_DIR: the folder ${dataDir} cannot be made: ${reason}.`, {
      cause,
    })
  }
}

/**
 * Names a data folder among all machines, by a hash of the folder's id and the machine's name. A copy of the folder on
 * another machine has another name. The caller holds the lock of the folder.
 */
export function hostIdentity(dataDir: string): string {
  const path = join(dataDir, 'host.id')
  const id = readId(path) ?? writeId(path)
  return createHash('sha256').update(`${hostname()}\n${id}`).digest('hex').slice(0, 32)
}

function readId(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function writeId(path: string): string {
  const id = randomUUID()
  writeFileSync(path, `${id}\n`, { mode: 0o600 })
  return id
}
