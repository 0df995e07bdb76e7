import { createLink } from '../accounts/links.ts'
import type { Db } from '../db/db.ts'
import { lockMember } from '../db/queries/members.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { linkUrl, ownAddressOf } from '../http/own-address.ts'
import { recordAudit } from '../logs/audit.ts'
import { organizationOf, originOf } from './caller.ts'
import { toIso } from './list-query.ts'
import { assertMayChange, openMember } from './members.ts'
import type { OnOperation } from './operations.ts'

type InvitationParts = { db: Db; ownUrl: string }

/** Links by which members get an account. */
export function addInvitationRoutes(on: OnOperation, { db, ownUrl }: InvitationParts): void {
  on('POST /v1/orgs/{org}/members/{member}/invitation', async (request) => {
    const { caller, params, context } = request
    const organization = await organizationOf(db, caller, params.org)
    const { id } = await openMember(db, organization.id, params.member)
    const { link, expiresAt } = await transact(db, async (transaction) => {
      const member = await lockMember(transaction, organization.id, id)
      if (member === undefined) throw new AnnexError('not_found', `The member ${id} has just been removed.`)
      assertMayChange(caller, member)
      if (member.accountId !== null) {
        const text = `${member.email} has an account already. An operator makes a reset link for a person who cannot sign in.`
        throw new AnnexError('conflict', text)
      }
      const made = await createLink(transaction, { invitation: member })
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'invitation.create', organizationId: organization.id },
        ...{ subject: { kind: 'member', id }, after: { expiresAt: toIso(made.expiresAt) } },
      })
      return made
    })
    const url = linkUrl(ownAddressOf(context.req, ownUrl).origin, '/join', link)
    return { object: 'invitation', url, link, expiresAt: toIso(expiresAt) } as const
  })
}
