import { randomUUIDv7 } from 'node:crypto'

/** What an id names, by its prefix. */
export type IdPrefix =
  | 'org'
  | 'space'
  | 'site'
  | 'inst'
  | 'ver'
  | 'rev'
  | 'evt'
  | 'ep'
  | 'dlv'
  | 'att'
  | 'job'
  | 'tok'
  | 'req'
  | 'host'

/** A prefix and a UUIDv7 (RFC 9562): sorts by the time it was made, within a millisecond. */
export const createId = <P extends IdPrefix>(prefix: P): `${P}_${string}` => `${prefix}_${randomUUIDv7()}`

/**
 * The bounds of ids that were made at a time: a UUIDv7 begins with its 48 bits of Unix ms, so an index of ids finds
 * what is younger. All ids made before `ms` are smaller than this one, and those made from then on are not.
 */
export function firstIdAt<P extends IdPrefix>(prefix: P, ms: number): `${P}_${string}` {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${prefix}_${hex.slice(0, 8)}-${hex.slice(8)}-`
}

/** The same id with another prefix: of two records that belong together. */
export const withPrefix = <P extends IdPrefix>(id: string, prefix: P): `${P}_${string}` =>
  `${prefix}_${id.slice(id.indexOf('_') + 1)}`
