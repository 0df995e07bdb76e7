import type { Context } from 'koa'
import type { NewAccount } from '../../schemas/generated/api/accounts.ts'
import { takeSetupToken } from '../access/tokens.ts'
import { createLink, joinAs, type OpenedLink, openLink, openLinkOf, useLink } from '../accounts/links.ts'
import { assertLocal } from '../accounts/openid-account.ts'
import { createAccount, type NewProof, prepareProof } from '../accounts/proofs.ts'
import type { Db } from '../db/db.ts'
import {
  type Account,
  findAccountByEmail,
  hasOperatorAccount,
  lockAccount,
  updateAccount,
} from '../db/queries/accounts.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { deleteSessions } from '../db/queries/sessions.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { linkUrl, type OwnAddress, ownAddressOf, toNamed } from '../http/own-address.ts'
import { recordAudit } from '../logs/audit.ts'
import { originOf } from './caller.ts'
import { toIso } from './list-query.ts'
import { addOpenidRoutes, type OpenidParts } from './openid.ts'
import type { OnOperation } from './operations.ts'
import { addOwnAccountRoutes } from './own-account.ts'
import { addSessionRoutes, type SessionParts } from './sessions.ts'
import { answerSession, originOfAccount, sessionBefore, signIn } from './sign-in.ts'

/** Accounts: how they begin, and how a lost way in is mended. */
export function addAccountRoutes(on: OnOperation, parts: SessionParts & OpenidParts): void {
  const { db, cookie, passkeys, ownUrl } = parts
  addSessionRoutes(on, parts)
  addOwnAccountRoutes(on, parts)
  addOpenidRoutes(on, parts)

  on('GET /v1/sign-in', async ({ context }) => {
    const address = ownAddressOf(context.req, ownUrl)
    const reason = whyNoPasskey(address)
    cookie.probe(context)
    return {
      object: 'sign_in',
      needsSetup: !(await hasOperatorAccount(db)),
      passkeys: {
        possible: reason === undefined,
        host: address.hostname,
        ...(reason !== undefined && { reason }),
      },
      secure: address.isHttps || address.isLoopback,
      ...(parts.openid && { openid: { name: parts.openid.name } }),
    } as const
  })

  on('POST /v1/passkey-challenges', async ({ body, context }) => {
    const address = ownAddressOf(context.req, ownUrl)
    const reason = whyNoPasskey(address)
    if (reason !== undefined) throw new AnnexError('conflict', reason)
    if (body.purpose === 'sign_in') {
      return { object: 'passkey_challenge', options: { ...(await passkeys.signInOptions(address)) } } as const
    }
    // An email names the person of a link: a session that the browser has does not matter.
    const { account } = (body.email === undefined ? await parts.readSession(context) : undefined) ?? {}
    const email = body.email ?? account?.email
    if (email === undefined) {
      const details = [{ path: '/email', message: 'is required without a session' }]
      throw new AnnexError('body_invalid', 'Give the email of the new account.', { details })
    }
    const options = await passkeys.registerOptions(db, address, {
      ...{ email, name: body.name ?? account?.name ?? '' },
      ...(account !== undefined && { accountId: account.id }),
    })
    return { object: 'passkey_challenge', options: { ...options } } as const
  })

  on('POST /v1/links', async ({ body }) => {
    const opened = await openLink(db, body.link)
    return {
      object: 'link',
      kind: opened.kind,
      expiresAt: toIso(opened.expiresAt),
      ...(await readLink(opened)),
    } as const
  })

  on('POST /v1/accounts', async ({ body, context }) => {
    const before = await sessionBefore(parts, context)
    const opened = await openLinkOf(db, body.link, 'setup', 'invitation')
    const { email, name } = personOf(opened, body)
    const proof = await prepareProof(passkeys, ownAddressOf(context.req, ownUrl), body)
    const started = await transact(db, async (transaction) => {
      const isOperator = opened.kind === 'setup'
      await (isOperator ? takeSetupToken : useLink)(transaction, body.link)
      const account = await createAccount(transaction, passkeys, { email, name, isOperator }, proof)
      if (opened.kind === 'invitation') await joinAs(transaction, opened.member, account)
      await recordAudit(transaction, originOfAccount(context, account.id), {
        action: 'account.create',
        organizationId: opened.kind === 'setup' ? null : opened.member.organizationId,
        subject: { kind: 'account', id: account.id },
        after: { email, name, ...(isOperator ? { operator: true } : { member: opened.member.id }) },
      })
      return signIn(transaction, context, account, { method: opened.kind, before })
    })
    return answerSession(parts, context, started)
  })

  on('POST /v1/resets', async ({ body, context }) => {
    const before = await sessionBefore(parts, context)
    const { account } = await openLinkOf(db, body.link, 'reset')
    const proof = await prepareProof(passkeys, ownAddressOf(context.req, ownUrl), body)
    const started = await transact(db, async (transaction) => {
      await useLink(transaction, body.link)
      await resetAccount(transaction, context, account, proof)
      return signIn(transaction, context, account, { method: 'reset', before })
    })
    return answerSession(parts, context, started)
  })

  on('POST /v1/resets/links', async (request) => {
    const { body, context } = request
    const account = await findAccountByEmail(db, body.email)
    if (account === undefined) {
      const text = `No account has the email ${body.email}. A member without an account gets an invitation.`
      throw new AnnexError('not_found', text)
    }
    const { link, expiresAt } = await transact(db, async (transaction) => {
      await assertLocal(transaction, account.id)
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'reset_link.create', organizationId: null },
        subject: { kind: 'account', id: account.id },
      })
      return createLink(transaction, { reset: account })
    })
    const url = linkUrl(ownAddressOf(context.req, ownUrl).origin, '/reset', link)
    return { object: 'reset_link', url, link, expiresAt: toIso(expiresAt) } as const
  })

  async function readLink(opened: OpenedLink) {
    if (opened.kind === 'setup') return {}
    if (opened.kind === 'reset') return { email: opened.account.email, name: opened.account.name }
    const { email, name, role, organizationId } = opened.member
    const organization = await findOrganization(db, organizationId)
    const { subdomain = organizationId, title = '' } = organization ?? {}
    return { email, name, role, organization: { subdomain, title } }
  }

  async function resetAccount(
    transaction: Db,
    context: Context,
    { id }: Account,
    { password, passkey }: NewProof,
  ): Promise<void> {
    if ((await lockAccount(transaction, id)) === undefined) {
      throw new AnnexError('unauthorized', 'The account of this link has been removed.')
    }
    if (password !== undefined) await updateAccount(transaction, id, { password })
    if (passkey !== undefined) await passkeys.store(transaction, id, passkey)
    await deleteSessions(transaction, id)
    await recordAudit(transaction, originOfAccount(context, id), {
      ...{ action: 'account.reset', organizationId: null, subject: { kind: 'account', id } },
      after: { password: password !== undefined, passkey: passkey !== undefined },
    })
  }
}

/** @throws AnnexError `body_invalid` for a setup token without an email */
function personOf(opened: OpenedLink, { email, name }: NewAccount): { email: string; name: string } {
  const member = opened.kind === 'invitation' ? opened.member : undefined
  const given = email ?? member?.email
  if (given === undefined) {
    const details = [{ path: '/email', message: 'is required with a setup token' }]
    throw new AnnexError('body_invalid', 'Give the email of the operator.', { details })
  }
  return { email: given, name: name ?? member?.name ?? '' }
}

/** Browsers make passkeys for host names, and over HTTPS or on this machine. */
function whyNoPasskey({ origin, hostname, isHttps, isLoopback, isName }: OwnAddress): string | undefined {
  if (!isName && isLoopback) return `A passkey belongs to a host name: open ${toNamed(origin)}.`
  if (!isName) return `A passkey belongs to a host name, and ${hostname} is an IP address.`
  return isHttps || isLoopback ? undefined : `Browsers make passkeys over HTTPS alone, and ${origin} is HTTP.`
}
