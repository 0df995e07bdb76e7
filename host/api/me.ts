import type { Context } from 'koa'
import type { Api } from '../../schemas/api.ts'
import type { Me } from '../../schemas/generated/api/me.ts'
import type { Operation } from '../../schemas/list-operations.ts'
import { roleNames } from '../access/roles.ts'
import type { AccountCaller, Caller } from '../access/tokens.ts'
import type { SignedIn } from '../accounts/sessions.ts'
import type { Db } from '../db/db.ts'
import type { Role as PersonRole } from '../db/queries/members.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { isAnnexError } from '../errors.ts'
import { type OnOperation, roleOf } from './operations.ts'
import { type ReadSession, toCaller } from './read-session.ts'
import { readAccountView, toSessionView } from './sign-in.ts'

type MeParts = { db: Db; api: Api; readSession: ReadSession }

/** The description of the API, the caller, and the operations that the caller may call. */
export function addMeRoutes(on: OnOperation, { db, api, readSession }: MeParts): void {
  const needs = leastRoles(api)

  on('GET /openapi.json', () => api.document)

  on('GET /v1/me', async ({ caller, context }) => {
    const signedIn = caller.kind === 'account' ? await readSession(context) : undefined
    const acting = signedIn === undefined ? caller : await chooseRole(signedIn, context, caller)
    return {
      object: 'me',
      role: roleOf(acting),
      ...(await holderOf(db, acting)),
      ...(signedIn && (await personOf(db, signedIn))),
      needs,
      allowed: api.operations.filter((operation) => mayCall(acting, caller, operation)).map(({ id }) => id),
    }
  })

  /** `account` where a request would have to name an organization. */
  async function chooseRole(
    signedIn: SignedIn,
    context: Context,
    caller: Caller | AccountCaller,
  ): Promise<Caller | AccountCaller> {
    return toCaller(db, signedIn, context).catch((error) => {
      if (isAnnexError(error) && error.code === 'bad_request') return caller
      throw error
    })
  }
}

async function personOf(
  db: Db,
  signedIn: SignedIn,
): Promise<Pick<Me, 'account' | 'session' | 'memberships'>> {
  const { session, memberships } = signedIn
  return {
    account: await readAccountView(db, signedIn),
    session: toSessionView(session, session.id),
    memberships: [...memberships],
  }
}

async function holderOf(
  db: Db,
  caller: Caller | AccountCaller,
): Promise<Omit<Me, 'object' | 'role' | 'allowed' | 'needs'>> {
  switch (caller.kind) {
    case 'operator':
    case 'account':
      return {}
    case 'organization': {
      const organization = await findOrganization(db, caller.organizationId)
      if (organization === undefined) return {}
      const { id, subdomain, title } = organization
      return { organization: { id, subdomain, title } }
    }
    case 'integration':
      return { integration: caller.integration, scopes: [...caller.scopes] }
    case 'installation': {
      const { integration, installationId: installation, scopes } = caller
      return { integration, installation, scopes: [...scopes] }
    }
  }
}

/** By operation, the least role of a person who may call it. */
const leastRoles = ({ operations }: Api): Record<string, PersonRole> =>
  Object.fromEntries(
    operations.flatMap(({ id, roles }) => {
      const least = roleNames.find((role) => roles.includes(role))
      return least === undefined ? [] : [[id, least]]
    }),
  )

/** @param acting the role of a session in the organization that its request names */
function mayCall(
  acting: Caller | AccountCaller,
  caller: Caller | AccountCaller,
  { roles, scope }: Operation,
): boolean {
  if (roles.includes('anyone')) return true
  const isAllowed = roles.includes(roleOf(acting)) || roles.includes(roleOf(caller))
  return isAllowed && (scope === undefined || !('scopes' in acting) || acting.scopes.includes(scope))
}
