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
