import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

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
  createdAt: number
  updatedAt: number
}

/** @returns undefined when the organization has a member with that email */
export async function insertMember(
  db: Db,
  given: Pick<Member, 'organizationId' | 'email' | 'name' | 'role'>,
): Promise<Member | undefined> {
  const now = Date.now()
  const row = { id: createId('mem'), ...given, createdAt: now, updatedAt: now }
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

/** Deletes a member with the tokens that the member has. */
export async function deleteMember(transaction: Db, id: string): Promise<{ tokens: number }> {
  const tokens = await transaction('tokens').where({ memberId: id }).delete()
  await transaction('members').where({ id }).delete()
  return { tokens }
}
