import type { Context } from 'koa'
import { enterBySubject, linkSubject } from '../accounts/openid-account.ts'
import type { FlowPurpose, OpenidFlow, OpenidFlows } from '../accounts/openid-flow.ts'
import { flowMs } from '../accounts/openid-flow.ts'
import type { Claims, OpenidProvider } from '../accounts/openid-provider.ts'
import type { RoleRules } from '../accounts/openid-roles.ts'
import { confirmedMs, openidMs, renewSession, type SignedIn } from '../accounts/sessions.ts'
import type { Db } from '../db/db.ts'
import { hasOperatorAccount } from '../db/queries/accounts.ts'
import { findSubject, findSubjectOf } from '../db/queries/openid-subjects.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { createOpenidCookie } from '../http/openid-cookie.ts'
import { ownAddressOf } from '../http/own-address.ts'
import { recordAudit } from '../logs/audit.ts'
import { toIso } from './list-query.ts'
import { assertConfirmed, type OnOperation } from './operations.ts'
import { toAccountCaller } from './read-session.ts'
import {
  answerSession,
  originOfAccount,
  type SignInParts,
  sessionBefore,
  signIn,
  toSessionView,
} from './sign-in.ts'

export type OpenidParts = SignInParts & {
  db: Db
  /** Undefined without OPENID_ISSUER. */
  openid: OpenidProvider | undefined
  openidFlows: OpenidFlows
  roleRules: RoleRules
}

/** The page of the console to which the provider leads back. */
const callbackPage = '/sign-in/openid'

/** The clocks of Annex and the provider may differ by so long. */
const clockMs = 60_000

/** Signing in by the OpenID provider of the settings (OpenID Connect Core 1.0, section 3.1), with PKCE. */
export function addOpenidRoutes(on: OnOperation, parts: OpenidParts): void {
  const { db, openidFlows, ownUrl, roleRules } = parts
  const cookie = createOpenidCookie(ownUrl)

  on('POST /v1/openid/flows', async ({ body, context }) => {
    const before = await sessionBefore(parts, context)
    const openid = assertProvider()
    const flow = openidFlows.create({
      purpose: body.purpose,
      sessionId: body.purpose === 'sign_in' ? null : (await assertMayBegin(body.purpose, before)).session.id,
      redirectUri: ownAddressOf(context.req, ownUrl).origin + callbackPage,
    })
    // The first operator's account is local: it works without the provider.
    if (!(await hasOperatorAccount(db))) {
      throw new AnnexError(
        'conflict',
        'Make the operator’s account first, at the address that Annex printed when it started.',
      )
    }
    const url = await openid.begin(flow, { again: flow.purpose === 'confirm' })
    cookie.set(context, flow.state, openidFlows.seal(flow))
    return { object: 'openid_flow', url, expiresAt: toIso(flow.startedAt + flowMs) } as const
  })

  on('POST /v1/openid/callbacks', async ({ body, context }) => {
    const before = await sessionBefore(parts, context)
    const openid = assertProvider()
    const query = new URLSearchParams(body.query)
    const flow = await takeFlow(context, query)
    const own = flow.sessionId === null ? undefined : assertSameSession(flow, before)
    const claims = await openid.finish(flow, query)
    const session = await run(context, flow, claims, { openid, before, own })
    return { object: 'openid_callback', purpose: flow.purpose, session } as const
  })

  async function run(
    context: Context,
    flow: OpenidFlow,
    claims: Claims,
    {
      openid,
      before,
      own,
    }: { openid: OpenidProvider; before: SignedIn | undefined; own: SignedIn | undefined },
  ) {
    if (own === undefined) return enter(context, claims, openid, before)
    if (flow.purpose === 'confirm') return confirm(context, flow, claims, openid, own)
    const origin = { name: openid.name, originOf: (id: string) => originOfAccount(context, id) }
    await transact(db, (transaction) =>
      linkSubject(transaction, claims, { ...origin, accountId: own.account.id }),
    )
    return toSessionView(own.session, own.session.id)
  }

  async function enter(
    context: Context,
    claims: Claims,
    openid: OpenidProvider,
    before: SignedIn | undefined,
  ) {
    const name = openid.name
    const attempt = () =>
      transact(db, async (transaction) => {
        const originOf = (id: string) => originOfAccount(context, id)
        const account = await enterBySubject(transaction, claims, { name, rules: roleRules, originOf })
        if (account === undefined) return undefined
        const setsRoles = (await findSubjectOf(transaction, account.id))?.setsRoles === true
        return signIn(transaction, context, account, {
          ...{ method: 'openid', before, confirmedAt: confirmedAtOf(claims) },
          ...(setsRoles && { lifetimeMs: openidMs }),
        })
      })
    // Of two first sign-ins at once, the second one finds the account of the first.
    const started = await attempt().catch(async (error) => {
      const key = { issuer: claims.iss, subject: claims.sub }
      if ((await findSubject(db, key)) === undefined) throw error
      return attempt()
    })
    if (started !== undefined) return answerSession(parts, context, started)
    throw new AnnexError(
      'forbidden',
      `${name} gives you no role in this Annex. Annex reads the claim "${roleRules.claim}", and none of its values has a role here. Ask an operator to add you to a group that has one.`,
    )
  }

  async function confirm(
    context: Context,
    { startedAt }: OpenidFlow,
    claims: Claims,
    { name }: OpenidProvider,
    { account, session }: SignedIn,
  ) {
    if (typeof claims.auth_time !== 'number') {
      const text = `${name} does not say when you signed in there: its ID token has no "auth_time". Annex needs it to confirm who you are.`
      throw new AnnexError('unauthorized', text)
    }
    if (claims.auth_time * 1000 < startedAt - clockMs) {
      throw new AnnexError(
        'unauthorized',
        `${name} has not asked you to sign in again. Sign out there, and try again.`,
      )
    }
    const renewed = await transact(db, async (transaction) => {
      const subject = await findSubject(transaction, { issuer: claims.iss, subject: claims.sub })
      if (subject?.accountId !== account.id) {
        throw new AnnexError('unauthorized', `This person of ${name} is not the one who is signed in here.`)
      }
      await recordAudit(transaction, originOfAccount(context, account.id), {
        ...{ action: 'session.confirm', organizationId: null, subject: { kind: 'session', id: session.id } },
      })
      return renewSession(transaction, session.id)
    })
    if (renewed === undefined) throw ended()
    return answerSession(parts, context, renewed)
  }

  function assertProvider(): OpenidProvider {
    if (parts.openid !== undefined) return parts.openid
    throw new AnnexError('not_found', 'This Annex has no OpenID provider: OPENID_ISSUER is not set.')
  }

  async function assertMayBegin(purpose: FlowPurpose, before: SignedIn | undefined): Promise<SignedIn> {
    if (before === undefined) throw ended()
    if (purpose === 'link') assertConfirmed(toAccountCaller(before))
    else if ((await findSubjectOf(db, before.account.id)) === undefined) {
      throw new AnnexError('conflict', 'This account is not linked with the OpenID provider.')
    }
    return before
  }

  /** Uses up the flow of a callback. @throws AnnexError `unauthorized` */
  async function takeFlow(context: Context, query: URLSearchParams): Promise<OpenidFlow> {
    const [state = '', ...others] = query.getAll('state')
    const sealed = cookie.take(context, state)
    const flow = sealed === undefined || others.length > 0 ? undefined : openidFlows.open(sealed, state)
    const isNew = flow !== undefined && (await transact(db, (one) => openidFlows.use(one, flow)))
    if (isNew) return flow
    throw new AnnexError(
      'unauthorized',
      'This sign-in began in another browser or at another address, was used before, or is older than ten minutes. Start it again.',
    )
  }
}

/** Attack: a person leads another one's browser to the callback of a flow that would link or confirm the other's account. */
function assertSameSession({ sessionId }: OpenidFlow, before: SignedIn | undefined): SignedIn {
  if (before?.session.id === sessionId) return before
  throw ended()
}

const ended = (): AnnexError => new AnnexError('unauthorized', 'This session has ended. Sign in again.')

/** The provider may have signed the person in long ago. Without a time, the session counts as not confirmed. */
function confirmedAtOf({ auth_time: time }: Claims): number {
  const now = Date.now()
  return typeof time === 'number' && time > 0 ? Math.min(now, time * 1000) : now - confirmedMs
}
