import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Db } from '../db/db.ts'
import { ensureKeyCheck } from '../db/queries/key-checks.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { createSecretBox, type SecretBox } from './secret-box.ts'

const keyBytes = 32
const keyFile = 'secret.key'

/**
 * Opens the box with the key of the setting, else of `secret.key` in the data folder, which the first start creates. All
 * hosts of a database have the same key, for signatures and for the tokens of scripts.
 *
 * @throws AnnexError `settings_invalid` when the key is wrong or lost; a lost key is not replaced
 */
export async function openSecretBox(db: Db, setting: string, dataDir: string): Promise<SecretBox> {
  const key = readSecretKey(setting, dataDir)
  const made = key ?? randomBytes(keyBytes)
  const box = createSecretBox(made)
  const refuse = (cause: unknown) =>
    key === undefined ? lostKeyError(join(dataDir, keyFile)) : otherKeyError(cause)
  await transact(db, async (transaction) => {
    assertOpens(box, await ensureKeyCheck(transaction, box.seal('the same')), refuse)
    // The key is on the disk before the transaction commits the first secret.
    if (key === undefined) storeSecretKey(dataDir, made)
  })
  return box
}

function assertOpens(box: SecretBox, sealed: string, refuse: (cause: unknown) => AnnexError): void {
  try {
    box.open(sealed)
  } catch (cause) {
    throw refuse(cause)
  }
}

const lostKeyError = (path: string): AnnexError =>
  new AnnexError(
    'settings_invalid',
    `SECRET_KEY: this host has no key, and the secrets in the database are encrypted with one. SECRET_KEY is not set, and ${path} ` +
      'does not exist. Restore the key from a backup, or copy it from another host: all hosts of a database have the same key.',
  )

const otherKeyError = (cause: unknown): AnnexError =>
  new AnnexError(
    'settings_invalid',
    'SECRET_KEY: the secrets in the database are encrypted with another key than that of this host (SECRET_KEY, or ' +
      'secret.key in DATA_DIR). Copy the key from the host that created them: all hosts of a database have the same key.',
    { cause },
  )

/** @throws AnnexError `settings_invalid` when the key is not 32 bytes in base64 */
export function readSecretKey(setting: string, dataDir: string): Uint8Array | undefined {
  const path = join(dataDir, keyFile)
  const text = setting !== '' ? setting : readKeyFile(path)
  if (text === undefined) return undefined
  const key = Buffer.from(text, 'base64')
  if (key.length === keyBytes) return key
  const where = setting !== '' ? 'SECRET_KEY' : path
  throw new AnnexError(
    'settings_invalid',
    `${where} is not 32 bytes in base64. Restore the key that this Annex had: without it the stored secrets are lost. For a ` +
      'new Annex, make one with: openssl rand -base64 32',
  )
}

function readKeyFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** When two processes start at the same time, the second one fails: a stored key is never replaced. */
function storeSecretKey(dataDir: string, key: Uint8Array): void {
  mkdirSync(dataDir, { recursive: true })
  createDurably(join(dataDir, keyFile), `${Buffer.from(key).toString('base64')}\n`)
}

/**
 * Creates a file for this user only, and returns after the fsync of the file and its folder. A power cut leaves the whole
 * file or none.
 *
 * @throws NodeJS.ErrnoException `EEXIST` when the file exists
 */
function createDurably(path: string, text: string): void {
  const draft = `${path}.${process.pid}.draft`
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true })
    linkSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
