import { longestShortName, shortNamePattern } from '../config/short-name.ts'

/** A name in an address: a subdomain, a slug. */
export const nameSchema = { type: 'string', pattern: shortNamePattern, maxLength: longestShortName }
export const titleSchema = { type: 'string', minLength: 1, maxLength: 200 }

/** JSON Schema of a rotation of a signing secret. No secret is taken from a caller: it might be a weak one. */
export const rotationSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    overlapSeconds: { type: 'integer', minimum: 0, maximum: 30 * 86_400 },
    first: { enum: ['new', 'old'] },
    again: { type: 'boolean' },
  },
}
