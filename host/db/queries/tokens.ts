import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

/** `setup`: exchanged once for an `operator` token. `cli`: an operator's token in the data folder. */
export type TokenKind = 'setup' | 'operator' | 'cli' | 'organization'

export type TokenRow = {
  id: string
  hash: string
  kind: TokenKind
  organizationId: string | null
  label: string
  createdAt: number
  expiresAt: number | null
}

export async function insertToken(db: Db, given: Omit<TokenRow, 'id' | 'createdAt'>): Promise<TokenRow> {
  const row = { id: createId('tok'), ...given, createdAt: Date.now() }
  await db('tokens').insert(row)
  return row
}

export async function findToken(db: Db, hash: string): Promise<TokenRow | undefined> {
  return db('tokens').where({ hash }).first()
}

/** Removes a one-time token. Of two concurrent calls, one returns true. */
export async function takeToken(db: Db, hash: string, kind: TokenKind): Promise<boolean> {
  const taken = await db('tokens').where({ hash, kind }).delete()
  return taken === 1
}

export async function deleteTokens(db: Db, kind: TokenKind): Promise<void> {
  await db('tokens').where({ kind }).delete()
}

export async function countTokens(db: Db, kind: TokenKind): Promise<number> {
  const row = await db('tokens').where({ kind }).count({ count: '*' }).first()
  return Number(row?.count ?? 0)
}
