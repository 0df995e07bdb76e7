import type { Member as MemberView } from '../../schemas/generated/api/members.ts'
import { isAtLeast } from '../access/roles.ts'
import type { Db } from '../db/db.ts'
import {
  deleteMember,
  findMember,
  insertMember,
  listMembers,
  type Member,
  type Role,
  updateMember,
} from '../db/queries/members.ts'
import { AnnexError } from '../errors.ts'
import { organizationOf, type Person } from './caller.ts'
import { listPage, textPlace, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

export type MemberParts = { db: Db; prepareDispatch: { forget: () => void } }

/** The members of organizations. */
export function addMemberRoutes(on: OnOperation, { db, prepareDispatch }: MemberParts): void {
  on('listMembersInOrganizationById', async ({ caller, params, query }) => {
    const organizationId = (await organizationOf(db, caller, params.org)).id
    return listPage(query, {
      place: textPlace,
      read: ({ after, limit }) =>
        listMembers(db, { organizationId, limit, ...(after !== undefined && { before: after }) }),
      placeOf: ({ id }) => id,
      toView,
    })
  })

  on('addMemberToOrganizationById', async ({ caller, params, body }) => {
    const { id: organizationId } = await organizationOf(db, caller, params.org)
    const { email, name = '', role } = body
    assertMayGive(caller, role)
    const member = await insertMember(db, { organizationId, email: email.toLowerCase(), name, role })
    if (member !== undefined) return toView(member)
    throw new AnnexError('conflict', `${organizationId} has a member with the email ${email} already.`)
  })

  on('getMemberInOrganizationById', async ({ caller, params }) => toView(await open(caller, params)))

  on('updateMemberInOrganizationById', async ({ caller, params, body }) => {
    const member = await open(caller, params)
    assertMayChange(caller, member)
    if (body.role !== undefined) assertMayGive(caller, body.role)
    const changed = await updateMember(db, member.id, body)
    prepareDispatch.forget()
    if (changed === undefined) throw noMember(member.organizationId, member.id)
    return toView(changed)
  })

  on('removeMemberFromOrganizationById', async ({ caller, params }) => {
    const member = await open(caller, params)
    assertMayChange(caller, member)
    const deleted = await deleteMember(db, member.id)
    prepareDispatch.forget()
    return { object: 'member', id: member.id, deleted }
  })

  async function open(caller: Person, { org, member }: { org: string; member: string }): Promise<Member> {
    return openMember(db, (await organizationOf(db, caller, org)).id, member)
  }
}

/** @throws AnnexError `not_found` */
export async function openMember(db: Db, organizationId: string, name: string): Promise<Member> {
  const member = await findMember(db, organizationId, name)
  if (member !== undefined) return member
  throw noMember(organizationId, name)
}

const noMember = (organizationId: string, name: string): AnnexError =>
  new AnnexError('not_found', `The organization ${organizationId} has no member ${name}.`)

const roleOf = (caller: Person): Role => (caller.kind === 'operator' ? 'operator' : caller.role)

/** A caller gives at most the role that it has. @throws AnnexError `forbidden` */
export function assertMayGive(caller: Person, role: Role): void {
  if (isAtLeast(roleOf(caller), role)) return
  throw new AnnexError('forbidden', `A token with the role ${roleOf(caller)} cannot give the role ${role}.`)
}

/** @throws AnnexError `forbidden` */
function assertMayChange(caller: Person, { id, role }: Member): void {
  if (isAtLeast(roleOf(caller), role)) return
  throw new AnnexError('forbidden', `The member ${id} is an operator: only an operator may change that.`)
}

function toView({ id, organizationId, email, name, role, createdAt, updatedAt }: Member): MemberView {
  return {
    object: 'member',
    id,
    organization: organizationId,
    email,
    name,
    role,
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  }
}
