import type { Operation } from '../../schemas/api.ts'
import type { Me } from '../../schemas/generated/api/me.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { type OnOperation, roleOf } from './operations.ts'

export type MeParts = { db: Db }

/** The holder of a token, and the operations of the API that the holder may call. */
export function addMeRoute(on: OnOperation, { db }: MeParts, operations: readonly Operation[]): void {
  on('GET /v1/me', async ({ caller }) => ({
    object: 'me',
    role: roleOf(caller),
    ...(await holderOf(db, caller)),
    allowed: operations.filter((operation) => mayCall(caller, operation)).map(({ id }) => id),
  }))
}

async function holderOf(db: Db, caller: Caller): Promise<Omit<Me, 'object' | 'role' | 'allowed'>> {
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

function mayCall(caller: Caller, { roles, scope }: Operation): boolean {
  if (roles.includes('anyone')) return true
  const isAllowed = roles.includes(roleOf(caller))
  return isAllowed && (scope === undefined || !('scopes' in caller) || caller.scopes.includes(scope))
}
