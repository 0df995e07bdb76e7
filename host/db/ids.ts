import { randomUUIDv7 } from 'node:crypto'

/** The prefix says which kind of record an id names. */
export type IdPrefix =
  | 'org'
  | 'space'
  | 'site'
  | 'inst'
  | 'grt'
  | 'aud'
  | 'ver'
  | 'rev'
  | 'page'
  | 'evt'
  | 'rcv'
  | 'dlv'
  | 'body'
  | 'att'
  | 'ref'
  | 'job'
  | 'mem'
  | 'acc'
  | 'ses'
  | 'key'
  | 'tok'
  | 'lnk'
  | 'flow'
  | 'req'
  | 'host'

/** Where the parts of a UUIDv7 lie in its text: 48 bits of Unix ms, the version, and twelve bits to count with. */
const [timeLength, counterAt, counterEnd] = [13, 15, 18]
const mostInMs = 0xfff

let lastTime = ''
let count = 0

/**
 * Creates a prefix with a UUIDv7 (RFC 9562). Ids of one ms are counted (section 6.2, method 1), so the ids of a process
 * sort in the order of their creation. An index then grows at its end, and a commit writes few of its pages.
 */
export function createId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  const uuid = randomUUIDv7()
  const time = uuid.slice(0, timeLength)
  count = time === lastTime ? Math.min(count + 1, mostInMs) : 0
  lastTime = time
  const counter = count.toString(16).padStart(counterEnd - counterAt, '0')
  return `${prefix}_${uuid.slice(0, counterAt)}${counter}${uuid.slice(counterEnd)}`
}

/**
 * The smallest id of a time: ids that were created before `ms` sort before it. A UUIDv7 begins with 48 bits of Unix ms,
 * so a query for newer records can use an index of ids.
 */
export function firstIdAt<P extends IdPrefix>(prefix: P, ms: number): `${P}_${string}` {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${prefix}_${hex.slice(0, 8)}-${hex.slice(8)}-`
}

/** The same id with another prefix, for records that belong together: a delivery and its job. */
export const withPrefix = <P extends IdPrefix>(id: string, prefix: P): `${P}_${string}` =>
  `${prefix}_${id.slice(id.indexOf('_') + 1)}`

/** Sorts records by their ids, the newest first. */
export const newestFirst = (one: { id: string }, other: { id: string }): number =>
  one.id < other.id ? 1 : -1
