import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { endMemberships } from './accounts.ts'
import { deleteLinkOf } from './one-time-links.ts'
import { deleteSessions } from './sessions.ts'

/** `host/access/roles.ts` says what each may do. */
export type Role = 'reader' | 'editor' | 'admin' | 'operator'

/** A person in an organization. Tokens can belong to a member. */
export type Member = {
  id: string
  organizationId: string
  /** In lower case. */
  email: string
  name: string
  role: Role
  /** Null until the invited person has accepted. */
  accountId: string | null
  createdAt: number
  updatedAt: number
}

/** @returns undefined when the organization has a member with that email */
export async function insertMember(
  db: Db,
  given: Pick<Member, 'organizationId' | 'email' | 'name' | 'role'>,
): Promise<Member | undefined> {
  const now = Date.now()
  const row = { id: createId('mem'), ...given, accountId: null, createdAt: now, updatedAt: now }
  const [inserted] = await db('members')
    .insert(row)
    .onConflict(['organizationId', 'email'])
    .ignore()
    .returning('*')
  return inserted
}

/** @param name the member's id or email */
export async function findMember(db: Db, organizationId: string, name: string): Promise<Member | undefined> {
  const column = name.includes('@') ? { email: name.toLowerCase() } : { id: name }
  return db('members')
    .where({ organizationId, ...column })
    .first()
}

export async function findMemberById(db: Db, id: string): Promise<Member | undefined> {
  return db('members').where({ id }).first()
}

/** Locks a member: other edits wait for the transaction. */
export async function lockMember(
  transaction: Db,
  organizationId: string,
  id: string,
): Promise<Member | undefined> {
  return transaction('members').where({ organizationId, id }).forUpdate().first()
}

/** The newest first. */
export async function listMembers(
  db: Db,
  { organizationId, before, limit }: { organizationId: string; before?: string; limit: number },
): Promise<Member[]> {
  const query = db('members').where({ organizationId }).orderBy('id', 'desc').limit(limit)
  return before === undefined ? query : query.where('id', '<', before)
}

export async function updateMember(
  db: Db,
  id: string,
  change: Partial<Pick<Member, 'name' | 'role'>>,
): Promise<Member | undefined> {
  const [changed] = await db('members')
    .where({ id })
    .update({ ...change, updatedAt: Date.now() })
    .returning('*')
  return changed
}

/**
 * Ends the sessions and the invitation of a member whose role has changed. An admin who kept an invitation of a reader must not
 * become the operator that the member is now.
 */
export async function endWaysIn(
  transaction: Db,
  { id, accountId }: Pick<Member, 'id' | 'accountId'>,
): Promise<void> {
  await deleteLinkOf(transaction, { memberId: id })
  if (accountId !== null) await deleteSessions(transaction, accountId)
}

/** Deletes a member with its tokens, its sessions, and an account that has no further membership. */
export async function deleteMember(
  transaction: Db,
  { id, accountId }: Pick<Member, 'id' | 'accountId'>,
): Promise<{ tokens: number }> {
  const tokens = await transaction('tokens').where({ memberId: id }).delete()
  await transaction('members').where({ id }).delete()
  if (accountId !== null) await endMemberships(transaction, [accountId])
  return { tokens }
}

/** What a person is in an organization. */
export type Membership = {
  member: string
  role: Role
  organization: { id: string; subdomain: string; title: string }
}

/** The memberships of an account, by the names of the organizations. */
export async function listMemberships(db: Db, accountId: string): Promise<Membership[]> {
  const rows = await db('members')
    .join('organizations', 'organizations.id', 'members.organizationId')
    .where({ accountId })
    .orderBy(['title', 'organizations.id'])
    .select('members.id as member', 'role', 'organizations.id', 'subdomain', 'title')
  return rows.map(({ member, role, ...organization }) => ({ member, role, organization }))
}

/** @returns false for a member who has an account */
export async function bindMember(transaction: Db, id: string, accountId: string): Promise<boolean> {
  const bound = await transaction('members').where({ id, accountId: null }).update({ accountId })
  return bound === 1
}
