import type { Context } from 'koa'
import type { MadeToken, NewOperatorToken, Token } from '../../schemas/generated/api/tokens.ts'
import type { Origin } from '../access/actor.ts'
import { isAtLeast, lowerRole } from '../access/roles.ts'
import { issueToken, type NewToken } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { findMemberById, type Member } from '../db/queries/members.ts'
import { deleteToken, findTokenById, listTokens, type TokenRow } from '../db/queries/tokens.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { recordAudit } from '../logs/audit.ts'
import { organizationOf, originOf, type Person } from './caller.ts'
import { idCursor, type ListRequest, listPage, timeOf, toIso, toIsoOrNull } from './list-query.ts'
import { assertMayGive, openMember } from './members.ts'
import { type OnOperation, roleOf } from './operations.ts'

type TokenParts = { db: Db }

/** Tokens of organizations and of operators: listed, made and revoked. */
export function addTokenRoutes(on: OnOperation, { db }: TokenParts): void {
  on('GET /v1/orgs/{org}/tokens', async (request) =>
    list((await organizationOf(db, request.caller, request.params.org)).id, request),
  )

  on('POST /v1/orgs/{org}/tokens', async (request) => {
    const { caller, params, body } = request
    const { id: organizationId } = await organizationOf(db, caller, params.org)
    const member = await holderOf(caller, organizationId, body.member)
    const role = body.role ?? lowerRole(member?.role ?? 'admin', roleOf(caller))
    assertMayGive(caller, role)
    return make(originOf(request), body, {
      organizationId,
      role: lowerRole(role, member?.role ?? role),
      ...(member !== undefined && { memberId: member.id }),
    })
  })

  on('DELETE /v1/orgs/{org}/tokens/{token}', async (request) => {
    const { caller, params } = request
    return revoke(request, (await organizationOf(db, caller, params.org)).id, params.token)
  })

  on('GET /v1/tokens', (request) => list(null, request))

  on('POST /v1/tokens', (request) => {
    const { caller, body } = request
    const memberId = body.member === null ? null : caller.memberId
    return make(originOf(request), body, { role: 'operator', ...(memberId !== null && { memberId }) })
  })

  on('DELETE /v1/tokens/{token}', (request) => revoke(request, null, request.params.token))

  /**
   * The member that a new token belongs to. Otherwise an admin would act in the name of another member, and a member's tokens
   * would outlive the member.
   *
   * @param name `null`: none
   * @throws AnnexError `not_found`; `forbidden` where only an operator may say so; `unauthorized` when the caller has just been
   *   removed: the token would outlive the member
   */
  async function holderOf(
    caller: Person,
    organizationId: string,
    name: string | null | undefined,
  ): Promise<Member | undefined> {
    const own = caller.memberId === null ? undefined : await findMemberById(db, caller.memberId)
    if (caller.memberId !== null && own === undefined)
      throw new AnnexError('unauthorized', 'The member of this token has just been removed.')
    if (name === undefined) return own
    const member = name === null ? undefined : await openMember(db, organizationId, name)
    if (caller.kind === 'operator' || member?.id === own?.id) return member
    const whose = member === undefined ? 'no member' : 'another member'
    throw new AnnexError('forbidden', `Only an operator makes a token that belongs to ${whose}.`)
  }

  async function list(organizationId: string | null, request: ListRequest) {
    return listPage(request, {
      cursor: idCursor('tok'),
      read: ({ after, limit }) =>
        listTokens(db, { organizationId, limit, ...(after !== undefined && { before: after }) }),
      cursorOf: ({ id }) => id,
      toView,
    })
  }

  async function make(
    origin: Origin,
    { label = '', expiresAt }: Pick<NewOperatorToken, 'label' | 'expiresAt'>,
    given: Omit<NewToken, 'label' | 'expiresAt'>,
  ): Promise<MadeToken> {
    const until = expiresAt === undefined ? undefined : timeOf('expiresAt', expiresAt)
    if (until !== undefined && until <= Date.now()) {
      const details = [{ path: '/expiresAt', message: 'is in the past' }]
      throw new AnnexError('body_invalid', `expiresAt is in the past: ${expiresAt}.`, { details })
    }
    return transact(db, async (transaction) => {
      const { token, row } = await issueToken(transaction, {
        ...given,
        label,
        ...(until !== undefined && { expiresAt: until }),
      })
      await record(transaction, origin, 'token.create', row)
      return { ...toView(row), token }
    })
  }

  /** Cached callers are forgotten: the token stops at once. */
  async function revoke(
    request: { caller: Person; context: Context },
    organizationId: string | null,
    id: string,
  ): Promise<undefined> {
    const row = await findTokenById(db, organizationId, id)
    if (row === undefined) throw new AnnexError('not_found', `There is no token ${id} that you may see.`)
    // Also a token with a lower role that an operator has made.
    if (!isAtLeast(roleOf(request.caller), row.memberRole ?? row.role ?? 'reader'))
      throw new AnnexError('forbidden', `${id} is the token of an operator: only an operator revokes it.`)
    const origin = originOf(request)
    await transact(db, async (transaction) => {
      await deleteToken(transaction, row.id)
      await record(transaction, origin, 'token.revoke', row)
    })
  }
}

/** The text of a token and its hash stand in no entry. */
function record(
  transaction: Db,
  origin: Origin,
  action: 'token.create' | 'token.revoke',
  row: TokenRow,
): Promise<void> {
  const { id, organizationId, memberId: member, role, label } = row
  const shown = { role, label, member, expiresAt: toIsoOrNull(row.expiresAt) }
  return recordAudit(transaction, origin, {
    ...{ action, organizationId, subject: { kind: 'token', id } },
    ...(action === 'token.create' ? { after: shown } : { before: shown }),
  })
}

function toView({ id, organizationId, memberId, role, label, ...times }: TokenRow): Token {
  return {
    object: 'token',
    id,
    organization: organizationId,
    member: memberId,
    // Only setup tokens have no role, and no list has them.
    role: role ?? 'reader',
    label,
    createdAt: toIso(times.createdAt),
    expiresAt: toIsoOrNull(times.expiresAt),
    lastUsedAt: toIsoOrNull(times.lastUsedAt),
  }
}
