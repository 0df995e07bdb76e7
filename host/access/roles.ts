import type { Role } from '../db/queries/members.ts'

/**
 * What each role of a person may do: its own part, and all that the roles before it may do. The schemas of the API name the
 * roles of each operation. docs/access.md shows this table, and a test compares both.
 */
export const roles = {
  reader: 'reads the records, settings, deliveries and logs of the organization, and no secrets',
  editor:
    'edits content, sites, spaces and settings, installs in sites and spaces, publishes events, pauses and repairs',
  admin:
    'installs in the organization and agrees to what scripts may do, makes and deletes sites and spaces, manages members and tokens',
  operator:
    'does this in every organization, makes and deletes organizations, names folders, and sees all of Annex',
} as const satisfies Record<Role, string>

/** From the least to the most. */
export const roleNames = Object.keys(roles) as Role[]

/** The roles that a member of an organization gets from its admins. */
export type OrganizationRole = Exclude<Role, 'operator'>

export const isAtLeast = (role: Role, least: Role): boolean =>
  roleNames.indexOf(role) >= roleNames.indexOf(least)

/** The lower of two roles. */
export const lowerRole = (one: Role, other: Role): Role => (isAtLeast(one, other) ? other : one)
