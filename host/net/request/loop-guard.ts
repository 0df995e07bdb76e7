import { AnnexError } from '../../errors/annex-error.ts'

/** Carries how many times a request has gone through a script of this Annex. */
export const hopsHeader = 'x-annex-hops'

export const maxHops = 8

/**
 * Reads the header of an incoming request. Without it: 0. What is no count was not written by Annex, and counts
 * as the limit, so that nobody resets the count with nonsense.
 */
export function readHops(header: string | undefined): number {
  if (header === undefined) return 0
  return /^\d{1,2}$/.test(header) ? Math.min(Number(header), maxHops) : maxHops
}

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
