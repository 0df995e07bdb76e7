/** A name in an address: a subdomain, a slug. */
export const nameSchema = { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 63 }
export const titleSchema = { type: 'string', minLength: 1, maxLength: 200 }
