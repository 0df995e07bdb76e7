import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

/** A credential of WebAuthn. It works at its host name alone. */
export type Passkey = {
  id: string
  accountId: string
  credentialId: string
  /** COSE, in base64url. */
  publicKey: string
  /** How often the authenticator says that it was used. A copy of it falls behind. */
  counter: number
  /** JSON, an array of texts. */
  transports: string
  host: string
  label: string
  createdAt: number
  lastUsedAt: number | null
}

/** @throws the database's error, `isDuplicate` for a credential that is registered already */
export async function insertPasskey(
  transaction: Db,
  given: Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'>,
): Promise<Passkey> {
  const row = { id: createId('key'), ...given, createdAt: Date.now(), lastUsedAt: null }
  await transaction('passkeys').insert(row)
  return row
}

/** The oldest first. */
export async function listPasskeys(db: Db, accountId: string): Promise<Passkey[]> {
  return db('passkeys').where({ accountId }).orderBy('id')
}

export async function findPasskey(db: Db, credentialId: string): Promise<Passkey | undefined> {
  return db('passkeys').where({ credentialId }).first()
}

/** @returns false when another sign-in has counted as far meanwhile, or the passkey is gone */
export async function countPasskey(
  transaction: Db,
  { id, counter }: Pick<Passkey, 'id' | 'counter'>,
): Promise<boolean> {
  const behind = transaction('passkeys')
    .where({ id })
    .where((row) => row.where('counter', '<', counter).orWhere({ counter: 0 }))
  return (await behind.update({ counter, lastUsedAt: Date.now() })) === 1
}

export async function deletePasskey(
  transaction: Db,
  accountId: string,
  id: string,
): Promise<Passkey | undefined> {
  const passkey = await transaction('passkeys').where({ accountId, id }).first()
  return (await transaction('passkeys').where({ accountId, id }).delete()) === 1 ? passkey : undefined
}

/** @returns false for a challenge that was used before */
export async function useChallenge(transaction: Db, hash: string, expiresAt: number): Promise<boolean> {
  const [inserted] = await transaction('usedChallenges')
    .insert({ hash, expiresAt })
    .onConflict('hash')
    .ignore()
    .returning('hash')
  return inserted !== undefined
}
