import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { isDuplicate } from '../db/errors.ts'
import { type Account, insertAccount, lockAccount } from '../db/queries/accounts.ts'
import {
  findSubject,
  findSubjectOf,
  insertSubject,
  type OpenidSubject,
  type SubjectKey,
  touchSubject,
} from '../db/queries/openid-subjects.ts'
import { AnnexError } from '../errors.ts'
import { recordAudit } from '../logs/audit.ts'
import { findOrganizations, lockWithMembers, setMemberships, takenEmail } from './openid-memberships.ts'
import type { Claims } from './openid-provider.ts'
import { type RoleRules, readRoles } from './openid-roles.ts'

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
  await setMemberships(transaction, account, roles, parts.originOf)
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
