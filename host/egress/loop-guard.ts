import { createHmac, timingSafeEqual } from 'node:crypto'
import { AnnexError } from '../errors/annex-error.ts'

/** Carries how many times a request has gone through a script of this Annex: `2.` and Annex's signature of it. */
export const hopsHeader = 'x-annex-hops'

export const maxHops = 8

/** Reads and writes the header's value. */
export type Hops = {
  /** The count of an incoming request. What Annex has not signed says nothing, and counts as 0. */
  read: (header: string | undefined) => number
  write: (hops: number) => string
}

/**
 * Any visitor can send the header: only with a signature can nobody claim a count that makes a script's requests
 * and deliveries be refused.
 *
 * @param key of this Annex, for nothing else
 */
export function createHops(key: Uint8Array): Hops {
  // Signed once: there are few counts, and many requests.
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
 * The count for a request that leaves from a dispatch which came in with `hops`.
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
