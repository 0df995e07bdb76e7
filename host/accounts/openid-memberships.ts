import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { type Account, lockAccount } from '../db/queries/accounts.ts'
import {
  bindMember,
  deleteMember,
  endWaysIn,
  insertMember,
  listMemberships,
  lockMember,
  type Member,
  type Role,
  updateMember,
} from '../db/queries/members.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { AnnexError } from '../errors.ts'
import { type AuditAction, recordAudit } from '../logs/audit.ts'
import { giveHigher } from './openid-roles.ts'

export const takenEmail = (email: string, next: string): AnnexError =>
  new AnnexError(
    'conflict',
    `Another account or member has the email ${email}, and an email does not prove who you are. ${next}.`,
  )

/** By id. An organization that does not exist gives no role. */
export async function findOrganizations(db: Db, named: Map<string, Role>): Promise<Map<string, Role>> {
  const roles = new Map<string, Role>()
  for (const [name, role] of named) {
    const organization = await findOrganization(db, name)
    if (organization !== undefined) giveHigher(roles, organization.id, role)
  }
  return roles
}

/** Members before their account, as a change of a member locks them. */
export async function lockWithMembers(transaction: Db, accountId: string): Promise<Account | undefined> {
  const memberships = await listMemberships(transaction, accountId)
  for (const { member, organization } of memberships.toSorted((a, b) => (a.member < b.member ? -1 : 1))) {
    await lockMember(transaction, organization.id, member)
  }
  return lockAccount(transaction, accountId)
}

/** New memberships first: an account is deleted with its last one. */
export async function setMemberships(
  transaction: Db,
  account: Account,
  roles: ReadonlyMap<string, Role>,
  originOf: (accountId: string) => Origin,
): Promise<void> {
  const held = await listMemberships(transaction, account.id)
  const record = (action: AuditAction, id: string, organizationId: string, change: object) =>
    recordAudit(transaction, originOf(account.id), {
      ...{ action, organizationId, subject: { kind: 'member', id } },
      ...change,
    })
  for (const [organizationId, role] of roles) {
    const membership = held.find(({ organization }) => organization.id === organizationId)
    if (membership === undefined) {
      const { email, name } = account
      const member = await insertMember(transaction, { organizationId, email, name, role })
      if (member === undefined)
        throw takenEmail(email, `An admin of ${organizationId} removes that member first`)
      await bindMember(transaction, member.id, account.id)
      await record('member.create', member.id, organizationId, { after: { email, name, role } })
    } else if (membership.role !== role) {
      await updateMember(transaction, membership.member, { role })
      await endWaysIn(transaction, toMember(membership.member, account))
      const change = { before: { role: membership.role }, after: { role } }
      await record('member.change', membership.member, organizationId, change)
    }
  }
  for (const { member, role, organization } of held) {
    if (roles.has(organization.id)) continue
    await deleteMember(transaction, toMember(member, account))
    await record('member.delete', member, organization.id, { before: { email: account.email, role } })
  }
}

const toMember = (id: string, { id: accountId }: Account): Pick<Member, 'id' | 'accountId'> => ({
  id,
  accountId,
})
