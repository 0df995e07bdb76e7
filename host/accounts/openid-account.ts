import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { isDuplicate } from '../db/errors.ts'
import { type Account, insertAccount, lockAccount } from '../db/queries/accounts.ts'
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
import {
  findSubject,
  findSubjectOf,
  insertSubject,
  type OpenidSubject,
  type SubjectKey,
  touchSubject,
} from '../db/queries/openid-subjects.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { AnnexError } from '../errors.ts'
import { type AuditAction, recordAudit } from '../logs/audit.ts'
import type { Claims } from './openid-provider.ts'
import { giveHigher, type RoleRules, readRoles } from './openid-roles.ts'

type SignInParts = {
  /** Of the provider, for texts. */
  name: string
  rules: RoleRules
  originOf: (accountId: string) => Origin
}

const keyOf = ({ iss, sub }: Claims): SubjectKey => ({ issuer: iss, subject: sub })

/**
 * The account of a person of the provider, found by issuer and `sub` alone. The first sign-in makes one, and each sign-in sets the
 * memberships that the claim gives. An account that was linked keeps its own memberships.
 *
 * @returns undefined for a person who has no role, whose account has been deleted
 * @throws AnnexError `conflict` when the email is that of another account or member
 */
export async function enterBySubject(
  transaction: Db,
  claims: Claims,
  parts: SignInParts,
): Promise<Account | undefined> {
  const known = await findSubject(transaction, keyOf(claims))
  if (known?.setsRoles === false) return enterLinked(transaction, claims, known)
  const roles = await findOrganizations(transaction, readRoles(claims, parts.rules))
  if (known === undefined && roles.size === 0) return undefined
  const account =
    known === undefined
      ? await createSubjectAccount(transaction, claims, parts)
      : await lockWithMembers(transaction, known.accountId)
  if (account === undefined) return undefined
  await touchSubject(transaction, keyOf(claims))
  await setMemberships(transaction, account, roles, parts)
  return roles.size === 0 ? undefined : account
}

/** @throws AnnexError `unauthorized` when the account was unlinked meanwhile: its session would outlive that */
async function enterLinked(
  transaction: Db,
  claims: Claims,
  { accountId }: OpenidSubject,
): Promise<Account | undefined> {
  const account = await lockAccount(transaction, accountId)
  const still = await findSubject(transaction, keyOf(claims))
  if (still?.accountId !== accountId) {
    throw new AnnexError('unauthorized', 'The account has just been unlinked. Try again.')
  }
  await touchSubject(transaction, keyOf(claims))
  return account
}

/** Makes the subject of the claims one more way in to a local account. @throws AnnexError `conflict` */
export async function linkSubject(
  transaction: Db,
  claims: Claims,
  { accountId, name, originOf }: Pick<SignInParts, 'name' | 'originOf'> & { accountId: string },
): Promise<void> {
  const key = keyOf(claims)
  await lockAccount(transaction, accountId)
  if ((await findSubjectOf(transaction, accountId)) !== undefined) {
    throw new AnnexError('conflict', `This account is linked with ${name} already. Unlink it first.`)
  }
  await insertSubject(transaction, { ...key, accountId, setsRoles: false }).catch((error) => {
    if (!isDuplicate(error)) throw error
    throw new AnnexError('conflict', `This person of ${name} has another account of this Annex.`)
  })
  await recordAudit(transaction, originOf(accountId), {
    ...{ action: 'openid.link', organizationId: null, subject: { kind: 'account', id: accountId } },
    after: key,
  })
}

/** An account of the provider ends there: a password or an invitation of its own would outlive it. @throws AnnexError `conflict` */
export async function assertLocal(transaction: Db, accountId: string): Promise<void> {
  if ((await findSubjectOf(transaction, accountId))?.setsRoles !== true) return
  const text =
    'This account belongs to the OpenID provider: the provider sets its roles, and it has no other way to sign in.'
  throw new AnnexError('conflict', text)
}

async function createSubjectAccount(
  transaction: Db,
  claims: Claims,
  { name: provider, originOf }: SignInParts,
): Promise<Account> {
  const key = keyOf(claims)
  const { email, name } = personOf(claims)
  const account = await insertAccount(transaction, { email, name, isOperator: false, password: null }).catch(
    (error) => {
      if (!isDuplicate(error)) throw error
      throw takenEmail(
        email,
        `Sign in to it by its password or passkey, and link ${provider} on the page of your account`,
      )
    },
  )
  await insertSubject(transaction, { ...key, accountId: account.id, setsRoles: true })
  await recordAudit(transaction, originOf(account.id), {
    ...{ action: 'account.create', organizationId: null, subject: { kind: 'account', id: account.id } },
    after: { email, name, ...key },
  })
  return account
}

const emailPattern = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,190}$/u
const longestName = 200

/** An email of the provider is a name to show. It proves nothing, and finds no account. */
function personOf(claims: Claims): { email: string; name: string } {
  const { email, name, preferred_username: username } = claims
  const isUsable =
    typeof email === 'string' &&
    claims.email_verified !== false &&
    email.isWellFormed() &&
    emailPattern.test(email)
  const shown = [name, username].find((one) => typeof one === 'string' && one !== '')
  return {
    // No address of a person ends with `.invalid` (RFC 2606).
    email: isUsable ? email.toLowerCase() : `${crypto.randomUUID()}@openid.invalid`,
    name: typeof shown === 'string' ? toName(shown) : '',
  }
}

const toName = (text: string): string =>
  [...text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')].slice(0, longestName).join('').trim()

const takenEmail = (email: string, next: string): AnnexError =>
  new AnnexError(
    'conflict',
    `Another account or member has the email ${email}, and an email does not prove who you are. ${next}.`,
  )

/** By id. An organization that does not exist gives no role. */
async function findOrganizations(db: Db, named: Map<string, Role>): Promise<Map<string, Role>> {
  const roles = new Map<string, Role>()
  for (const [name, role] of named) {
    const organization = await findOrganization(db, name)
    if (organization !== undefined) giveHigher(roles, organization.id, role)
  }
  return roles
}

/** Members before their account, as a change of a member locks them. */
async function lockWithMembers(transaction: Db, accountId: string): Promise<Account | undefined> {
  const memberships = await listMemberships(transaction, accountId)
  for (const { member, organization } of memberships.toSorted((a, b) => (a.member < b.member ? -1 : 1))) {
    await lockMember(transaction, organization.id, member)
  }
  return lockAccount(transaction, accountId)
}

/** New memberships first: an account is deleted with its last one. */
async function setMemberships(
  transaction: Db,
  account: Account,
  roles: ReadonlyMap<string, Role>,
  { originOf }: SignInParts,
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
