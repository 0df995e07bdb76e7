import { isAtLeast } from '../access/roles.ts'
import { parseRoleMapping, type RoleMapping } from '../config/role-mapping.ts'
import type { Role } from '../db/queries/members.ts'
import type { Claims } from './openid-provider.ts'

/** How roles are read from a claim: OPENID_ROLES_CLAIM and OPENID_ROLES. */
export type RoleRules = { claim: string; mappings: readonly RoleMapping[] }

export const toRoleRules = (settings: {
  OPENID_ROLES_CLAIM: string
  OPENID_ROLES: readonly string[]
}): RoleRules => ({
  claim: settings.OPENID_ROLES_CLAIM,
  mappings: settings.OPENID_ROLES.flatMap((entry) => parseRoleMapping(entry) ?? []),
})

/** The highest role in each organization that the claim gives. Any other claim than a text, or a list of texts, gives none. */
export function readRoles(claims: Claims, { claim, mappings }: RoleRules): Map<string, Role> {
  const values = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  const given: ReadonlySet<unknown> = new Set(Array.isArray(values) ? values : [values])
  const roles = new Map<string, Role>()
  for (const { value, organization, role } of mappings) {
    if (given.has(value)) giveHigher(roles, organization, role)
  }
  return roles
}

/** An organization may be named twice: by its id and its subdomain. */
export function giveHigher(roles: Map<string, Role>, organization: string, role: Role): void {
  const before = roles.get(organization)
  if (before === undefined || isAtLeast(role, before)) roles.set(organization, role)
}
