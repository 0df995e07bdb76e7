import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Db } from '../db/db.ts'
import { ensureKeyCheck, findSealedSecret } from '../db/queries/key-checks.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { createSecretBox, keyBytes, readSecretKey, type SecretBox, storeSecretKey } from './secret-box.ts'

/**
 * The box under the key of the setting, else of `secret.key` in the data folder, which the first start makes. All hosts that
 * share a database need the key that its secrets are encrypted with, for signatures and for the tokens of scripts.
 *
 * @throws AnnexError `settings_invalid` where the key is another one, or is lost: no key is made then
 */
export async function openSecretBox(db: Db, setting: string, dataDir: string): Promise<SecretBox> {
  const key = readSecretKey(setting, dataDir)
  const made = key ?? randomBytes(keyBytes)
  const box = createSecretBox(made)
  const refuse = (cause: unknown) =>
    key === undefined ? lostKeyError(join(dataDir, 'secret.key')) : otherKeyError(cause)
  await db.transaction(async (transaction) => {
    const secret = await findSealedSecret(transaction)
    if (secret !== undefined) assertOpens(box, secret, refuse)
    assertOpens(box, await ensureKeyCheck(transaction, box.seal('the same')), refuse)
    // On the disk before the database has anything that is encrypted with it.
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
    `SECRET_KEY: this host has no key: SECRET_KEY is not set, and there is no ${path}. The secrets in the database are encrypted ` +
      'with one. Put it back from a backup, or give this host the key of another one: all hosts of a database have the same.',
  )

const otherKeyError = (cause: unknown): AnnexError =>
  new AnnexError(
    'settings_invalid',
    'SECRET_KEY: the key of this host (SECRET_KEY, or secret.key in DATA_DIR) is not the one that the secrets in the ' +
      'database are encrypted with. Give it the key of the host that made them: all hosts of a database have the same.',
    { cause },
  )
