import type { Api, Operation } from '../../schemas/api.ts'
import type { Me } from '../../schemas/generated/api/me.ts'
import { roleNames } from '../access/roles.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import type { Role as PersonRole } from '../db/queries/members.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { type OnOperation, roleOf } from './operations.ts'

type MeParts = { db: Db; api: Api }

/** The description of the API, the holder of a token, and the operations that the holder may call. */
export function addMeRoutes(on: OnOperation, { db, api }: MeParts): void {
  const needs = leastRoles(api)

  on('GET /openapi.json', () => api.document)

  on('GET /v1/me', async ({ caller }) => ({
    object: 'me',
    role: roleOf(caller),
    ...(await holderOf(db, caller)),
    needs,
    allowed: api.operations.filter((operation) => mayCall(caller, operation)).map(({ id }) => id),
  }))
}

async function holderOf(db: Db, caller: Caller): Promise<Omit<Me, 'object' | 'role' | 'allowed' | 'needs'>> {
  switch (caller.kind) {
    case 'operator':
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

function mayCall(caller: Caller, { roles, scope }: Operation): boolean {
  if (roles.includes('anyone')) return true
  const isAllowed = roles.includes(roleOf(caller))
  return isAllowed && (scope === undefined || !('scopes' in caller) || caller.scopes.includes(scope))
}
