import type { Context } from 'koa'
import type { Account as AccountView } from '../../schemas/generated/api/accounts.ts'
import type { OfSession } from '../access/tokens.ts'
import { joinAs, openLinkOf, useLink } from '../accounts/links.ts'
import { assertLocal } from '../accounts/openid-account.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { refuseTakenEmail } from '../accounts/proofs.ts'
import type { Db } from '../db/db.ts'
import { type Account, findAccount, lockAccount, updateAccount } from '../db/queries/accounts.ts'
import { listMemberships } from '../db/queries/members.ts'
import { deleteLinkOf } from '../db/queries/one-time-links.ts'
import { deleteSubjectOf, findSubjectOf } from '../db/queries/openid-subjects.ts'
import { deletePasskey, listPasskeys } from '../db/queries/passkeys.ts'
import { deleteSessions } from '../db/queries/sessions.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { ownAddressOf } from '../http/own-address.ts'
import { type AuditAction, recordAudit } from '../logs/audit.ts'
import { originOf } from './caller.ts'
import { assertConfirmed, type OnOperation, type OperationRequest } from './operations.ts'
import type { SessionParts } from './sessions.ts'
import { readAccountView } from './sign-in.ts'

type AccountRequest = { caller: OperationRequest<'GET /v1/account'>['caller']; context: Context }

/** The account of the person who is signed in: its name, its ways to sign in, its memberships. */
export function addOwnAccountRoutes(on: OnOperation, { db, passkeys, ownUrl }: SessionParts): void {
  on('GET /v1/account', ({ caller }) => view(caller))

  on('PATCH /v1/account', async (request) => {
    const { caller, body } = request
    const { name, email, password } = body
    if (email !== undefined || password !== undefined) assertConfirmed(caller)
    const hash = password === undefined ? undefined : await hashPassword(password)
    await change(request, 'account.change', async (transaction, { id, ...before }) => {
      if (hash !== undefined) await assertLocal(transaction, id)
      const after = {
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email: email.toLowerCase() }),
      }
      const stored = { ...after, ...(hash !== undefined && { password: hash }) }
      await updateAccount(transaction, id, stored).catch(refuseTakenEmail)
      if (hash !== undefined) {
        await deleteSessions(transaction, id, caller.sessionId)
        await deleteLinkOf(transaction, { accountId: id })
      }
      return {
        before: { name: before.name, email: before.email },
        after: { ...after, ...(hash !== undefined && { password: true }) },
      }
    })
    return view(caller)
  })

  on('POST /v1/account/passkeys', async (request) => {
    const { caller, body, context } = request
    const passkey = await passkeys.checkNew(ownAddressOf(context.req, ownUrl), body)
    await change(request, 'passkey.create', async (transaction, { id }) => {
      await assertLocal(transaction, id)
      const { id: stored, host, label } = await passkeys.store(transaction, id, passkey)
      return { after: { id: stored, host, label } }
    })
    return view(caller)
  })

  on('DELETE /v1/account/passkeys/{passkey}', async (request) => {
    const { caller, params } = request
    await change(request, 'passkey.delete', async (transaction, { id, password }) => {
      const deleted = await deletePasskey(transaction, id, params.passkey)
      if (deleted === undefined) {
        throw new AnnexError('not_found', `The account has no passkey ${params.passkey}.`)
      }
      if (password === null && (await listPasskeys(transaction, id)).length === 0) {
        const text = 'This is the last way to sign in. Add a password or another passkey first.'
        throw new AnnexError('conflict', text)
      }
      return { before: { id: deleted.id, host: deleted.host, label: deleted.label } }
    })
    return view(caller)
  })

  on('DELETE /v1/account/openid', async (request) => {
    await change(request, 'openid.unlink', async (transaction, { id }) => {
      await assertLocal(transaction, id)
      const subject = await findSubjectOf(transaction, id)
      if (subject === undefined) throw new AnnexError('not_found', 'The account is not linked.')
      await deleteSubjectOf(transaction, id)
      await deleteSessions(transaction, id, request.caller.sessionId)
      return { before: { issuer: subject.issuer, subject: subject.subject } }
    })
    return view(request.caller)
  })

  on('POST /v1/account/memberships', async (request) => {
    const { caller, body } = request
    const { member } = await openLinkOf(db, body.link, 'invitation')
    await transact(db, async (transaction) => {
      const account = await lock(transaction, caller)
      await assertLocal(transaction, account.id)
      await useLink(transaction, body.link)
      await joinAs(transaction, member, account)
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'invitation.accept', organizationId: member.organizationId },
        ...{ subject: { kind: 'member', id: member.id }, after: { account: account.id } },
      })
    })
    const found = (await listMemberships(db, caller.accountId)).find((one) => one.member === member.id)
    if (found === undefined)
      throw new AnnexError('conflict', `The member ${member.id} has just been removed.`)
    return found
  })

  /** Changes the locked account, with an entry of the audit. */
  async function change(
    request: AccountRequest,
    action: AuditAction,
    run: (transaction: Db, account: Account) => Promise<{ before?: object; after?: object }>,
  ): Promise<void> {
    await transact(db, async (transaction) => {
      const account = await lock(transaction, request.caller)
      const changed = await run(transaction, account)
      const subject = { kind: 'account', id: account.id }
      await recordAudit(transaction, originOf(request), { action, organizationId: null, subject, ...changed })
    })
  }

  async function view({ accountId }: OfSession): Promise<AccountView> {
    const account = await findAccount(db, accountId)
    if (account === undefined) throw removed()
    const memberships = await listMemberships(db, accountId)
    return readAccountView(db, { account, memberships })
  }
}

async function lock(transaction: Db, { accountId }: OfSession): Promise<Account> {
  const account = await lockAccount(transaction, accountId)
  if (account === undefined) throw removed()
  return account
}

const removed = (): AnnexError => new AnnexError('unauthorized', 'This account has just been removed.')
