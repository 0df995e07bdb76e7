import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import type { Role } from './members.ts'

/** `setup`: exchanged once for an operator's token. `cli`: an operator's token in the data folder. `api`: all others. */
export type TokenKind = 'setup' | 'cli' | 'api'

export type TokenRow = {
  id: string
  hash: string
  kind: TokenKind
  /** Null for `setup`, which is no bearer token. */
  role: Role | null
  /** Null for tokens of operators that belong to no member. */
  organizationId: string | null
  memberId: string | null
  label: string
  createdAt: number
  expiresAt: number | null
  lastUsedAt: number | null
}

export async function insertToken(
  db: Db,
  given: Omit<TokenRow, 'id' | 'createdAt' | 'lastUsedAt'>,
): Promise<TokenRow> {
  const row = { id: createId('tok'), ...given, createdAt: Date.now(), lastUsedAt: null }
  await db('tokens').insert(row)
  return row
}

/** A token with the role of the member that it belongs to. */
export type FoundToken = TokenRow & { memberRole: Role | null }

const withMemberRole = (query: Knex.QueryBuilder): Knex.QueryBuilder =>
  query.leftJoin('members', 'members.id', 'tokens.memberId').select('tokens.*', 'members.role as memberRole')

export async function findToken(db: Db, hash: string): Promise<FoundToken | undefined> {
  return withMemberRole(db('tokens')).where({ hash }).first()
}

/** The label of a token, and the member that it belongs to. */
export async function findHolder(
  db: Db,
  id: string,
): Promise<{ label: string; name: string | null; email: string | null } | undefined> {
  return db('tokens')
    .leftJoin('members', 'members.id', 'tokens.memberId')
    .where({ 'tokens.id': id })
    .select('label', 'members.name', 'members.email')
    .first()
}

/** Removes a one-time token. Of two concurrent calls, one returns true. */
export async function takeToken(db: Db, hash: string, kind: TokenKind): Promise<boolean> {
  const taken = await db('tokens').where({ hash, kind }).delete()
  return taken === 1
}

export async function deleteTokens(db: Db, kind: TokenKind): Promise<void> {
  await db('tokens').where({ kind }).delete()
}

/** Tokens that people may list, of an organization, or those of operators that belong to none. */
const listed = (db: Db, organizationId: string | null) =>
  db('tokens').where({ 'tokens.organizationId': organizationId }).whereIn('kind', ['api', 'cli'])

/** The newest first. */
export async function listTokens(
  db: Db,
  where: { organizationId: string | null; before?: string; limit: number },
): Promise<TokenRow[]> {
  const { organizationId, before, limit } = where
  const query = listed(db, organizationId).orderBy('id', 'desc').limit(limit)
  return before === undefined ? query : query.where('id', '<', before)
}

export async function findTokenById(
  db: Db,
  organizationId: string | null,
  id: string,
): Promise<FoundToken | undefined> {
  return withMemberRole(listed(db, organizationId)).where({ 'tokens.id': id }).first()
}

export async function deleteToken(db: Db, id: string): Promise<void> {
  await db('tokens').where({ id }).delete()
}

/** Notes the use of a token, unless one was noted after `unlessAfter`. */
export async function touchToken(
  db: Db,
  { id, at, unlessAfter }: { id: string; at: number; unlessAfter: number },
): Promise<void> {
  await db('tokens')
    .where({ id })
    .where((old) => old.whereNull('lastUsedAt').orWhere('lastUsedAt', '<=', unlessAfter))
    .update({ lastUsedAt: at })
}
