/** The role that a value of an OpenID claim gives in an organization. */
export type RoleMapping = {
  value: string
  /** Id or subdomain. */
  organization: string
  role: 'reader' | 'editor' | 'admin' | 'operator'
}

const mappingPattern = /^(?<value>.+)=(?<organization>[\w-]+):(?<role>reader|editor|admin|operator)$/

/** @returns nothing for a text that is none */
export function parseRoleMapping(entry: string): RoleMapping | undefined {
  const { value = '', organization = '', role = '' } = mappingPattern.exec(entry)?.groups ?? {}
  if (role === '') return undefined
  try {
    return { value: decodeURIComponent(value), organization, role: role as RoleMapping['role'] }
  } catch {
    return undefined
  }
}

/** The text of the error for an entry that cannot be parsed. */
export const describeWrongMapping = (entry: string): string =>
  `"${entry}" is no VALUE=ORGANIZATION:ROLE. Write for example "engineering=acme:admin", with the subdomain of an organization and ` +
  'reader, editor, admin or operator; in a value, a comma is %2C and a percent sign %25'
