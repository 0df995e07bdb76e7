import { createHash, randomUUID } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { AnnexError } from '../errors.ts'

/** By these a folder is known as one of Annex. */
const ownFiles: readonly string[] = ['annex.sqlite', 'secret.key', 'cli.token', 'host.id', 'server.json']

type DataLocation = {
  dataDir: string
  /** `DATABASE_URL`. */
  databaseUrl: string
  /** Folders and files of other settings. They may lie in the data folder. */
  beside: readonly string[]
}

/**
 * Opens the data folder for this process: checks that it is one of Annex or empty, locks it, and makes its files private.
 *
 * @returns unlocks the folder
 * @throws AnnexError `settings_invalid` for a folder of another owner or of other programs, and for one that has lost its
 *   database; `conflict` when another process has the lock
 */
export async function openDataFolder({
  dataDir,
  databaseUrl,
  beside,
}: DataLocation): Promise<() => Promise<void>> {
  makeFolder(dataDir)
  const names = readNames(dataDir)
  assertMayUse(dataDir, names)
  assertOwn(dataDir, names, [databaseUrl.replace(/^sqlite:/, ''), ...beside])
  if (databaseUrl === '') assertHasDatabase(dataDir)
  const unlock = await ownDataFolder(dataDir)
  makePrivate(dataDir)
  return unlock
}

function readNames(dataDir: string): string[] {
  try {
    return readdirSync(dataDir)
  } catch (cause) {
    throw accessError(dataDir, cause)
  }
}

/** A file that cannot be read would fail later, in a message that does not name the folder. */
function assertMayUse(dataDir: string, names: readonly string[]): void {
  const { R_OK, W_OK } = constants
  const own = names.filter((name) => ownFiles.includes(name))
  for (const name of ['', ...own]) {
    const path = join(dataDir, name)
    try {
      accessSync(path, name === '' || name === 'annex.sqlite' ? R_OK | W_OK : R_OK)
    } catch (cause) {
      throw accessError(path, cause)
    }
  }
}

function accessError(path: string, cause: unknown): AnnexError {
  const { code } = cause as NodeJS.ErrnoException
  const mine = process.getuid?.()
  const isOfOther = mine !== undefined && lstatSync(path).uid !== mine
  const why =
    code === 'EROFS'
      ? 'it is on a file system for reading only'
      : isOfOther
        ? `it belongs to the user ${lstatSync(path).uid}, and this process runs as ${mine}`
        : 'its mode forbids it'
  const next = isOfOther
    ? `Start Annex as the user of the folder, or give the folder to this one: chown -R ${mine} DATA_DIR.`
    : 'Change that, or choose another DATA_DIR.'
  return new AnnexError('settings_invalid', `DATA_DIR: ${path} cannot be read and written: ${why}. ${next}`, {
    cause,
  })
}

/** Annex makes the files of its folder private. Files of other programs would no longer be readable for these. */
function assertOwn(dataDir: string, names: readonly string[], beside: readonly string[]): void {
  if (names.some((name) => ownFiles.includes(name))) return
  const others = names.filter((name) => {
    const path = join(dataDir, name)
    const isNamed = beside.some((other) => `${resolve(other)}/`.startsWith(`${path}/`))
    return !name.startsWith('.') && name !== 'cache' && name !== 'lost+found' && !isNamed
  })
  if (others.length === 0) return
  const shown = others.slice(0, 3).join(', ') + (others.length > 3 ? ' …' : '')
  throw new AnnexError(
    'settings_invalid',
    `DATA_DIR: the folder ${dataDir} has files of others (${shown}), and none of Annex. Choose an empty folder or a new one. ` +
      'To restore a backup, put annex.sqlite and secret.key into it first: docs/backup.md.',
  )
}

/** A start without the database would make a new one, and look like a loss of all data. */
function assertHasDatabase(dataDir: string): void {
  if (!existsSync(join(dataDir, 'cli.token')) || existsSync(join(dataDir, 'annex.sqlite'))) return
  throw new AnnexError(
    'settings_invalid',
    `DATA_DIR: an Annex has run with the folder ${dataDir}, and its database is not there. If it is on PostgreSQL or at another ` +
      'path, set DATABASE_URL. Else restore annex.sqlite from a backup (docs/backup.md). To begin anew, choose an empty folder.',
  )
}

/**
 * Files that an earlier version made, or a person copied, may be readable for others. Links and folders of people keep their
 * modes. A volume may belong to another user: its folder then keeps its mode.
 */
function makePrivate(dataDir: string): void {
  hideFromOthers(dataDir)
  for (const { name } of list(dataDir)) if (name !== 'cache') hideFromOthers(join(dataDir, name), 'file')
  const cache = join(dataDir, 'cache')
  if (!hideFromOthers(cache)) return
  for (const entry of list(cache, true)) hideFromOthers(join(entry.parentPath, entry.name))
}

/** The cache is made again, so a folder of it that cannot be read is left alone. */
function list(folder: string, recursive = false) {
  try {
    return readdirSync(folder, { recursive, withFileTypes: true })
  } catch {
    return []
  }
}

/** @returns whether there is such a file or folder. A link is none. */
function hideFromOthers(path: string, only?: 'file'): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || !(found.isFile() || (found.isDirectory() && only === undefined))) return false
  try {
    if ((found.mode & 0o077) !== 0) chmodSync(path, found.mode & (found.isFile() ? 0o600 : 0o700))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EPERM', 'EROFS', 'ENOENT'].includes(code)) throw error
  }
  return true
}

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
    const reason =
      code === 'EEXIST' || code === 'ENOTDIR'
        ? 'there is a file at that path'
        : `this user may not write above it (${code})`
    throw new AnnexError(
      'settings_invalid',
      `DATA_DIR: the folder ${dataDir} cannot be made: ${reason}. Make it, or choose another DATA_DIR.`,
      { cause },
    )
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
