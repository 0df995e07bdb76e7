import type { Context } from 'koa'
import type { Member as MemberView } from '../../schemas/generated/api/members.ts'
import { isAtLeast } from '../access/roles.ts'
import type { Db } from '../db/db.ts'
import {
  deleteMember,
  endWaysIn,
  findMember,
  insertMember,
  listMembers,
  lockMember,
  type Member,
  type Role,
  updateMember,
} from '../db/queries/members.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { type AuditAction, recordAudit } from '../logs/audit.ts'
import { organizationOf, originOf, type Person } from './caller.ts'
import { idCursor, listPage, toIso } from './list-query.ts'
import { type OnOperation, roleOf } from './operations.ts'

type MemberRequest = { caller: Person; params: { org: string; member: string } }

type MemberParts = { db: Db }

/** The members of organizations. */
export function addMemberRoutes(on: OnOperation, { db }: MemberParts): void {
  on('GET /v1/orgs/{org}/members', async (request) => {
    const organizationId = (await organizationOf(db, request.caller, request.params.org)).id
    return listPage(request, {
      cursor: idCursor('mem'),
      read: ({ after, limit }) =>
        listMembers(db, { organizationId, limit, ...(after !== undefined && { before: after }) }),
      cursorOf: ({ id }) => id,
      toView,
    })
  })

  on('POST /v1/orgs/{org}/members', async (request) => {
    const { caller, params, body } = request
    const { id: organizationId } = await organizationOf(db, caller, params.org)
    const { email, name = '', role } = body
    assertMayGive(caller, role)
    return transact(db, async (transaction) => {
      const given = { email: email.toLowerCase(), name, role }
      const member = await insertMember(transaction, { organizationId, ...given })
      if (member === undefined) {
        throw new AnnexError('conflict', `${organizationId} has a member with the email ${email} already.`)
      }
      await record(transaction, request, 'member.create', member, { after: given })
      return toView(member)
    })
  })

  on('GET /v1/orgs/{org}/members/{member}', async ({ caller, params }) => toView(await open(caller, params)))

  on('PATCH /v1/orgs/{org}/members/{member}', (request) =>
    edit(request, async (transaction, member) => {
      const { caller, body } = request
      if (body.role !== undefined) assertMayGive(caller, body.role)
      const changed = (await updateMember(transaction, member.id, body)) ?? member
      const { name, role } = member
      if (changed.role !== role) await endWaysIn(transaction, member)
      await record(transaction, request, 'member.change', member, { before: { name, role }, after: body })
      return toView(changed)
    }),
  )

  on('DELETE /v1/orgs/{org}/members/{member}', (request) =>
    edit(request, async (transaction, member) => {
      const deleted = await deleteMember(transaction, member)
      const { email, name, role } = member
      await record(transaction, request, 'member.delete', member, {
        before: { email, name, role, ...deleted },
      })
      return { object: 'member', id: member.id, deleted } as const
    }),
  )

  /** Edits a locked member. Tokens of the member change at once: the audit entry drops cached callers. */
  async function edit<Value>(
    { caller, params }: MemberRequest,
    run: (transaction: Db, member: Member) => Promise<Value>,
  ): Promise<Value> {
    const { id, organizationId } = await open(caller, params)
    return transact(db, async (transaction) => {
      const member = await lockMember(transaction, organizationId, id)
      if (member === undefined) throw noMember(organizationId, id)
      assertMayChange(caller, member)
      return run(transaction, member)
    })
  }

  async function open(caller: Person, { org, member }: { org: string; member: string }): Promise<Member> {
    return openMember(db, (await organizationOf(db, caller, org)).id, member)
  }
}

function record(
  transaction: Db,
  request: { caller: Person; context: Context },
  action: AuditAction,
  { id, organizationId }: Member,
  change: { before?: object; after?: object },
): Promise<void> {
  const subject = { kind: 'member', id }
  return recordAudit(transaction, originOf(request), { action, organizationId, subject, ...change })
}

/** @throws AnnexError `not_found` */
export async function openMember(db: Db, organizationId: string, name: string): Promise<Member> {
  const member = await findMember(db, organizationId, name)
  if (member !== undefined) return member
  throw noMember(organizationId, name)
}

const noMember = (organizationId: string, name: string): AnnexError =>
  new AnnexError('not_found', `The organization ${organizationId} has no member ${name}.`)

/** A caller gives at most the role that it has. @throws AnnexError `forbidden` */
export function assertMayGive(caller: Person, role: Role): void {
  if (isAtLeast(roleOf(caller), role)) return
  throw new AnnexError('forbidden', `A token with the role ${roleOf(caller)} cannot give the role ${role}.`)
}

/** @throws AnnexError `forbidden` */
export function assertMayChange(caller: Person, { id, role }: Member): void {
  if (isAtLeast(roleOf(caller), role)) return
  throw new AnnexError('forbidden', `The member ${id} is an operator: only an operator may change that.`)
}

function toView({
  id,
  organizationId,
  email,
  name,
  role,
  accountId,
  createdAt,
  updatedAt,
}: Member): MemberView {
  return {
    object: 'member',
    id,
    organization: organizationId,
    email,
    name,
    role,
    account: accountId !== null,
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  }
}
