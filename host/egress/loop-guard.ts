import { createHmac, timingSafeEqual } from 'node:crypto'
import { AnnexError } from '../errors.ts'

/** Counts the scripts of this Annex that a request has gone through: `2.` and Annex's signature of the count. */
export const hopsHeader = 'x-annex-hops'

export const maxHops = 8

/** Reads and writes the value of the header. */
export type Hops = {
  /** The count of an incoming request. A value without Annex's signature counts as 0. */
  read: (header: string | undefined) => number
  write: (hops: number) => string
}

/**
 * Any visitor can send the header. The signature keeps visitors from claiming a count at which the requests and deliveries
 * of a script are refused.
 *
 * @param key a key of this Annex that is used for nothing else
 */
export function createHops(key: Uint8Array): Hops {
  // There are few counts and many requests, so each signature is cached.
  const values: string[] = []
  const write = (hops: number): string => (values[hops] ??= `${hops}.${signatureOf(key, hops)}`)
  return {
    write,
    read(header) {
      const count = /^(\d{1,2})\.[0-9a-f]{32}$/.exec(header ?? '')?.[1]
      if (header === undefined || count === undefined) return 0
      const expected = Buffer.from(write(Number(count)))
      const given = Buffer.from(header)
      const isSigned = expected.length === given.length && timingSafeEqual(expected, given)
      return isSigned ? Math.min(Number(count), maxHops) : 0
    },
  }
}

const signatureOf = (key: Uint8Array, hops: number): string =>
  createHmac('sha256', key).update(String(hops)).digest('hex').slice(0, 32)

/**
 * The count for a request that a dispatch makes, when the dispatch was caused by a request with `hops`.
 *
 * @throws AnnexError `egress_loop` above the limit: two scripts that call each other would go on for ever
 */
export function nextHops(hops: number): number {
  if (hops < maxHops) return hops + 1
  throw new AnnexError(
    'egress_loop',
    `This request has already gone through ${maxHops} scripts of this Annex, one calling the next. ` +
      'Look for a script that requests its own endpoint.',
  )
}
