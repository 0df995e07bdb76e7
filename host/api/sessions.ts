import type { Context } from 'koa'
import type { PasskeyProof, Passkeys } from '../accounts/passkeys.ts'
import { isPassword } from '../accounts/passwords.ts'
import { lockUnchanged } from '../accounts/proofs.ts'
import { idleMs, renewSession } from '../accounts/sessions.ts'
import type { Db } from '../db/db.ts'
import { type Account, findAccount, findAccountByEmail } from '../db/queries/accounts.ts'
import { deleteSession, listSessions } from '../db/queries/sessions.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { ownAddressOf } from '../http/own-address.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import { recordAudit } from '../logs/audit.ts'
import { originOf } from './caller.ts'
import { idCursor, listPage } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { answerSession, type SignInParts, sessionBefore, signIn, toSessionView } from './sign-in.ts'

export type SessionParts = SignInParts & {
  db: Db
  passkeys: Passkeys
  rateLimits: Pick<RateLimits, 'countTry' | 'forgiveTry'>
}

/** Sessions: signed in to, listed, confirmed and ended. */
export function addSessionRoutes(on: OnOperation, parts: SessionParts): void {
  const { db, cookie, passkeys, rateLimits, ownUrl } = parts

  on('POST /v1/sessions', async ({ body, context }) => {
    const before = await sessionBefore(parts, context)
    const { email, password, passkey } = body
    const checked =
      passkey !== undefined
        ? await byPasskey(context, passkey)
        : await byPassword(context, { email, password })
    const started = await transact(db, async (transaction) => {
      const account = await useProof(transaction, checked)
      const method = checked.proof === undefined ? 'password' : 'passkey'
      return signIn(transaction, context, account, { method, before })
    })
    return answerSession(parts, context, started)
  })

  on('GET /v1/sessions', (request) => {
    const { accountId, sessionId } = request.caller
    return listPage(request, {
      cursor: idCursor('ses'),
      read: ({ after, limit }) =>
        listSessions(db, {
          ...{ accountId, limit, usedAfter: Date.now() - idleMs },
          ...(after !== undefined && { before: after }),
        }),
      cursorOf: ({ id }) => id,
      toView: (session) => toSessionView(session, sessionId),
    })
  })

  on('DELETE /v1/sessions/{session}', async (request) => {
    const { caller, params, context } = request
    const id = params.session === 'current' ? caller.sessionId : params.session
    await transact(db, async (transaction) => {
      if (!(await deleteSession(transaction, caller.accountId, id))) {
        throw new AnnexError('not_found', `The account has no session ${id}.`)
      }
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'session.end', organizationId: null, subject: { kind: 'session', id } },
      })
    })
    if (id === caller.sessionId) cookie.remove(context)
  })

  on('POST /v1/sessions/current/confirmation', async (request) => {
    const { caller, body, context } = request
    const own = await findAccount(db, caller.accountId)
    const checked =
      body.passkey !== undefined
        ? await byPasskey(context, body.passkey)
        : await byPassword(context, { email: own?.email, password: body.password })
    if (checked.account.id !== caller.accountId) {
      throw new AnnexError('unauthorized', 'This passkey belongs to another account.')
    }
    const renewed = await transact(db, async (transaction) => {
      await useProof(transaction, checked)
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'session.confirm', organizationId: null },
        subject: { kind: 'session', id: caller.sessionId },
      })
      return renewSession(transaction, caller.sessionId)
    })
    if (renewed === undefined) throw new AnnexError('unauthorized', 'This session has ended. Sign in again.')
    return answerSession(parts, context, renewed)
  })

  type Checked = { account: Account; proof?: PasskeyProof }

  /** @throws AnnexError `unauthorized`, `rate_limited`; `unavailable` while too many passwords are checked */
  async function byPassword(
    context: Context,
    { email, password }: { email: string | undefined; password: string | undefined },
  ): Promise<Checked> {
    if (email === undefined || password === undefined) {
      const field = password === undefined ? 'password' : 'email'
      const details = [{ path: `/${field}`, message: 'is required without a passkey' }]
      throw new AnnexError('body_invalid', `Give an email and a password, or a passkey.`, { details })
    }
    const name = email.toLowerCase()
    await rateLimits.countTry(context, name)
    const account = await findAccountByEmail(db, name)
    if ((await isPassword(password, account?.password)) && account !== undefined) {
      await rateLimits.forgiveTry(context, name)
      return { account }
    }
    throw new AnnexError('unauthorized', 'No account has this email with this password.')
  }

  /** @throws AnnexError `unauthorized` */
  async function byPasskey(context: Context, response: object): Promise<Checked> {
    const proof = await passkeys.check(db, ownAddressOf(context.req, ownUrl), response)
    const account = await findAccount(db, proof.passkey.accountId)
    if (account === undefined)
      throw new AnnexError('unauthorized', 'The account of this passkey was removed.')
    return { account, proof }
  }

  async function useProof(transaction: Db, { account, proof }: Checked): Promise<Account> {
    if (proof !== undefined) await passkeys.use(transaction, proof)
    return lockUnchanged(transaction, account)
  }
}
