import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

export type SessionMethod = 'password' | 'passkey' | 'setup' | 'invitation' | 'reset' | 'openid'

/** A browser that is signed in. Its cookie has the secret, whose hash is here. */
export type Session = {
  id: string
  hash: string
  accountId: string
  method: SessionMethod
  createdAt: number
  lastUsedAt: number
  /** When the person last showed a password or passkey, or signed in at the OpenID provider. */
  confirmedAt: number
  /** The session has ended then, however often it is used. */
  expiresAt: number
  address: string | null
  userAgent: string
}

export async function insertSession(transaction: Db, given: Omit<Session, 'id'>): Promise<Session> {
  const row = { id: createId('ses'), ...given }
  await transaction('sessions').insert(row)
  return row
}

export async function findSession(db: Db, hash: string): Promise<Session | undefined> {
  return db('sessions').where({ hash }).first()
}

/** The newest first. */
export async function listSessions(
  db: Db,
  where: { accountId: string; usedAfter: number; before?: string; limit: number },
): Promise<Session[]> {
  const { accountId, usedAfter, before, limit } = where
  const query = db('sessions')
    .where({ accountId })
    .where('expiresAt', '>', Date.now())
    .where('lastUsedAt', '>', usedAfter)
    .orderBy('id', 'desc')
    .limit(limit)
  return before === undefined ? query : query.where('id', '<', before)
}

/** @returns undefined for a session that has just ended */
export async function confirmSession(
  transaction: Db,
  id: string,
  change: Pick<Session, 'hash' | 'confirmedAt'>,
): Promise<Session | undefined> {
  const [changed] = await transaction('sessions').where({ id }).update(change).returning('*')
  return changed
}

/** @returns false when the account has no such session */
export async function deleteSession(transaction: Db, accountId: string, id: string): Promise<boolean> {
  return (await transaction('sessions').where({ accountId, id }).delete()) === 1
}

/** Ends the sessions of an account, all but one. */
export async function deleteSessions(transaction: Db, accountId: string, except = ''): Promise<void> {
  await transaction('sessions').where({ accountId }).whereNot({ id: except }).delete()
}

/** Notes the use of a session, unless one was noted after `unlessAfter`. */
export async function touchSession(
  db: Db,
  { id, at, unlessAfter }: { id: string; at: number; unlessAfter: number },
): Promise<void> {
  await db('sessions').where({ id }).where('lastUsedAt', '<=', unlessAfter).update({ lastUsedAt: at })
}

/** Removes sessions that have ended, and links and challenges that no longer work. */
export async function pruneSignIns(db: Db, given: { now: number; usedBefore: number }): Promise<void> {
  await db('sessions')
    .where('expiresAt', '<=', given.now)
    .orWhere('lastUsedAt', '<=', given.usedBefore)
    .delete()
  for (const table of ['oneTimeLinks', 'usedChallenges']) {
    await db(table).where('expiresAt', '<=', given.now).delete()
  }
}
