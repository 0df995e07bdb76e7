import { randomBytes } from 'node:crypto'
import { hashOf } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { type Account, findAccount } from '../db/queries/accounts.ts'
import { listMemberships, type Membership } from '../db/queries/members.ts'
import {
  confirmSession,
  findSession,
  insertSession,
  type Session,
  type SessionMethod,
} from '../db/queries/sessions.ts'

const dayMs = 24 * 60 * 60 * 1000
/** A session ends when it was not used for so long. */
export const idleMs = 30 * dayMs
/** A session ends after so long, however often it is used. */
export const longestMs = 90 * dayMs
/** A session of a provider's account ends after so long: a person who may no longer sign in there is out within a day. */
export const openidMs = dayMs
/** A session may change ways to sign in, tokens and members for so long after a password or passkey. */
export const confirmedMs = 10 * 60 * 1000

/** The account, the session and the memberships of a browser that is signed in. */
export type SignedIn = { account: Account; session: Session; memberships: readonly Membership[] }

export type Browser = { address: string | null; userAgent: string }

const createSecret = (): string => randomBytes(24).toString('base64url')
const longestAgent = 300

/** Starts a session. Its secret goes to the browser alone. */
export async function startSession(
  transaction: Db,
  account: Account,
  method: SessionMethod,
  { address, userAgent }: Browser,
  { confirmedAt, lifetimeMs = longestMs }: { confirmedAt?: number; lifetimeMs?: number } = {},
): Promise<{ secret: string; session: Session }> {
  const secret = createSecret()
  const now = Date.now()
  const session = await insertSession(transaction, {
    ...{ accountId: account.id, method, hash: hashOf(secret), address },
    ...{ createdAt: now, lastUsedAt: now, confirmedAt: confirmedAt ?? now, expiresAt: now + lifetimeMs },
    // U+0000 is no text of PostgreSQL. HTTP has none in a header.
    userAgent: userAgent.slice(0, longestAgent).toWellFormed(),
  })
  return { secret, session }
}

/** Notes a confirmation. A new secret: one that was read before the confirmation must not have its power. */
export async function renewSession(
  transaction: Db,
  id: string,
): Promise<{ secret: string; session: Session } | undefined> {
  const secret = createSecret()
  const session = await confirmSession(transaction, id, { hash: hashOf(secret), confirmedAt: Date.now() })
  return session && { secret, session }
}

export const endOf = ({ expiresAt, lastUsedAt }: Session): number => Math.min(expiresAt, lastUsedAt + idleMs)

export const isOver = (session: Session): boolean => endOf(session) <= Date.now()

/** @returns undefined for a secret that is unknown, or whose session is over */
export async function findSignedIn(db: Db, secret: string): Promise<SignedIn | undefined> {
  const session = await findSession(db, hashOf(secret))
  if (session === undefined || isOver(session)) return undefined
  const [account, memberships] = await Promise.all([
    findAccount(db, session.accountId),
    listMemberships(db, session.accountId),
  ])
  return account && { account, session, memberships }
}

/** True for the account of a setup token, and for one with a membership of an operator. */
export const isOperator = ({ account, memberships }: Pick<SignedIn, 'account' | 'memberships'>): boolean =>
  account.isOperator || memberships.some(({ role }) => role === 'operator')
