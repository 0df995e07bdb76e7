import type { Context } from 'koa'
import type { Account as AccountView } from '../../schemas/generated/api/accounts.ts'
import type { Session as SessionView } from '../../schemas/generated/api/sessions.ts'
import type { Origin } from '../access/actor.ts'
import {
  type Browser,
  endOf,
  isOperator,
  longestMs,
  type SignedIn,
  startSession,
} from '../accounts/sessions.ts'
import type { Db } from '../db/db.ts'
import type { Account } from '../db/queries/accounts.ts'
import { findSubjectOf, type OpenidSubject } from '../db/queries/openid-subjects.ts'
import { listPasskeys } from '../db/queries/passkeys.ts'
import { deleteSession, type Session, type SessionMethod } from '../db/queries/sessions.ts'
import { isAnnexError } from '../errors.ts'
import { assertOwnPage } from '../http/own-page.ts'
import type { SessionCookie } from '../http/session-cookie.ts'
import { recordAudit } from '../logs/audit.ts'
import { toIso, toIsoOrNull } from './list-query.ts'
import type { ReadSession } from './read-session.ts'

export type SignInParts = {
  readSession: ReadSession
  cookie: SessionCookie
  /** PUBLIC_URL, which may be empty. */
  ownUrl: string
}

const browserOf = (context: Context): Browser => ({
  address: context.ip || null,
  userAgent: context.get('user-agent'),
})

/** Where the changes of an account come from, for the audit: its person. */
export const originOfAccount = (context: Context, accountId: string): Origin => ({
  actor: { kind: 'person', id: accountId },
  requestId: context.state.requestId,
  address: context.ip || null,
})

/**
 * The session that a sign-in ends. A secret that was planted in the browser before must not outlive it.
 *
 * @throws AnnexError `forbidden` for a page of another site, which would sign the browser in to an account of its own
 */
export async function sessionBefore(
  { readSession, ownUrl }: SignInParts,
  context: Context,
): Promise<SignedIn | undefined> {
  assertOwnPage(context.req, ownUrl, { maySendNeither: true })
  return readSession(context).catch((error) => {
    if (isAnnexError(error)) return undefined
    throw error
  })
}

/** Starts a session in the transaction of a sign-in, and ends the one before. The audit has the sign-in. */
export async function signIn(
  transaction: Db,
  context: Context,
  account: Account,
  {
    method,
    before,
    ...times
  }: {
    method: SessionMethod
    before: SignedIn | undefined
    /** Default: now. */
    confirmedAt?: number
    lifetimeMs?: number
  },
): Promise<{ secret: string; session: Session }> {
  if (before !== undefined) await deleteSession(transaction, before.account.id, before.session.id)
  const started = await startSession(transaction, account, method, browserOf(context), times)
  await recordAudit(transaction, originOfAccount(context, account.id), {
    ...{ action: 'session.create', organizationId: null },
    ...{ subject: { kind: 'session', id: started.session.id }, after: { method } },
  })
  return started
}

/** After the commit: a browser must not keep the cookie of a session that was not stored. */
export function answerSession(
  { cookie }: Pick<SignInParts, 'cookie'>,
  context: Context,
  { secret, session }: { secret: string; session: Session },
): SessionView {
  cookie.set(context, secret, longestMs)
  return toSessionView(session, session.id)
}

export const toSessionView = (session: Session, currentId: string): SessionView => ({
  object: 'session',
  id: session.id,
  current: session.id === currentId,
  method: session.method,
  createdAt: toIso(session.createdAt),
  lastUsedAt: toIso(session.lastUsedAt),
  confirmedAt: toIso(session.confirmedAt),
  expiresAt: toIso(endOf(session)),
  address: session.address,
  userAgent: session.userAgent,
})

export async function readAccountView(
  db: Db,
  signedIn: Pick<SignedIn, 'account' | 'memberships'>,
): Promise<AccountView> {
  const { id, email, name, password } = signedIn.account
  const [passkeys, subject] = await Promise.all([listPasskeys(db, id), findSubjectOf(db, id)])
  return {
    object: 'account',
    ...{ id, email, name, operator: isOperator(signedIn), password: password !== null },
    passkeys: passkeys.map((passkey) => ({
      ...{ id: passkey.id, label: passkey.label, host: passkey.host },
      createdAt: toIso(passkey.createdAt),
      lastUsedAt: toIsoOrNull(passkey.lastUsedAt),
    })),
    openid: subject === undefined ? null : toSubjectView(subject),
  }
}

const toSubjectView = ({ issuer, subject, setsRoles, createdAt, lastUsedAt }: OpenidSubject) => ({
  ...{ issuer, subject, setsRoles, createdAt: toIso(createdAt) },
  lastUsedAt: toIsoOrNull(lastUsedAt),
})
