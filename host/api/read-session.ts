import type { Context } from 'koa'
import { type AccountCaller, type Caller, hashOf } from '../access/tokens.ts'
import type { Uses } from '../access/uses.ts'
import { findSignedIn, isOperator, isOver, type SignedIn } from '../accounts/sessions.ts'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import type { Membership } from '../db/queries/members.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { AnnexError } from '../errors.ts'
import { assertOwnPage } from '../http/own-page.ts'
import type { SessionCookie } from '../http/session-cookie.ts'

/**
 * Finds who is signed in in the browser of a request. A request with `Authorization` has no session.
 *
 * @returns undefined without a cookie
 * @throws AnnexError `unauthorized` for a session that has ended, `forbidden` for a request that no own page has sent
 */
export type ReadSession = (context: Context) => Promise<SignedIn | undefined>

export function createReadSession(
  db: Db,
  given: {
    cookie: SessionCookie
    /** Empty without PUBLIC_URL. */
    publicUrl: string
    noteUse: Uses['note']
    /** Gets a function that drops cached records. */
    onChange: (forget: () => void) => void
  },
): ReadSession {
  const { cookie, publicUrl, noteUse, onChange } = given
  const sessions = cacheReads({ keyOf: hashOf, read: (secret: string) => findSignedIn(db, secret) })
  onChange(sessions.forget)
  return async (context) => {
    if (context.get('authorization') !== '') return undefined
    const secret = cookie.read(context)
    if (secret === undefined) return undefined
    assertOwnPage(context.req, publicUrl)
    const found = await sessions.get(secret)
    if (found === undefined || isOver(found.session)) {
      throw new AnnexError('unauthorized', 'This session has ended. Sign in again.')
    }
    noteUse(found.session)
    return found
  }
}

/** The person of a session, for operations of the own account. */
export const toAccountCaller = (signedIn: SignedIn): AccountCaller => ({
  ...{ kind: 'account', isOperator: isOperator(signedIn), memberships: signedIn.memberships },
  ...ofSession(signedIn),
})

const ofSession = ({ account, session }: SignedIn) => ({
  accountId: account.id,
  sessionId: session.id,
  confirmedAt: session.confirmedAt,
})

/**
 * The caller that a session is for one organization: the one of the path, of `organization` in the query, or of the header
 * `annex-organization`, else the only one. An operator is one in each organization: with the header, records of others are
 * not found.
 *
 * @throws AnnexError `bad_request` when none of several organizations is named, `not_found` without a membership in it
 */
export async function toCaller(
  db: Db,
  signedIn: SignedIn,
  context: Context,
): Promise<Extract<Caller, { kind: 'operator' | 'organization' }>> {
  const { memberships } = signedIn
  if (isOperator(signedIn)) {
    const member = memberships.find(({ role }) => role === 'operator')?.member ?? null
    const onlyIn = await readHeader(db, context)
    return { kind: 'operator', memberId: member, ...(onlyIn && { onlyIn }), ...ofSession(signedIn) }
  }
  const { member, role, organization } = await chooseMembership(db, memberships, organizationNamed(context))
  if (role === 'operator') throw new Error('an operator’s membership makes an operator')
  return {
    kind: 'organization',
    organizationId: organization.id,
    role,
    memberId: member,
    ...ofSession(signedIn),
  }
}

/** The header of a session's request that names the organization. */
export const organizationHeader = 'annex-organization'

function organizationNamed({ params, query, headers }: Context): string | undefined {
  const named = [params?.org, query.organization, headers[organizationHeader]]
  return named.find((name) => typeof name === 'string' && name !== '')
}

/** @throws AnnexError `not_found` */
async function readHeader(db: Db, { headers }: Context): Promise<string | undefined> {
  const name = headers[organizationHeader]
  if (typeof name !== 'string' || name === '') return undefined
  const found = await findOrganization(db, name)
  if (found !== undefined) return found.id
  throw new AnnexError('not_found', `There is no organization ${name} that you may see.`)
}

async function chooseMembership(
  db: Db,
  memberships: readonly Membership[],
  name: string | undefined,
): Promise<Membership> {
  const [only, ...others] = memberships
  if (name === undefined) {
    if (only !== undefined && others.length === 0) return only
    const all = memberships.map(({ organization }) => organization.subdomain).join(', ')
    throw new AnnexError(
      'bad_request',
      `Name one of your organizations (${all}) in the header ${organizationHeader}, by its id or subdomain.`,
    )
  }
  const named = ({ organization: { id, subdomain } }: Membership) => id === name || subdomain === name
  const id = memberships.some(named) ? undefined : (await findOrganization(db, name))?.id
  const found = memberships.find((one) => (id === undefined ? named(one) : one.organization.id === id))
  if (found !== undefined) return found
  throw new AnnexError('not_found', `There is no organization ${name} that you may see.`)
}
