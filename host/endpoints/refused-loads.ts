import type { IncomingMessage } from 'node:http'
import { AnnexError } from '../errors.ts'

/** What a page shows, plays or reads without running it (Fetch standard, "destination"). An unknown destination may run it. */
const passive: ReadonlySet<string> = new Set([
  ...['empty', 'document', 'iframe', 'frame'],
  ...['image', 'audio', 'video', 'track', 'report'],
])

/** A cache must not answer a script element with what it has kept of a navigation. */
export const loadsVary = 'Sec-Fetch-Site, Sec-Fetch-Dest'

/**
 * Refuses an answer of a script where it would run with the URL origin of Annex.
 *
 * Attack: the policy of the console lets its pages load scripts of their own URL origin, and public endpoints share it. A page
 * of an endpoint is sandboxed: it has a URL origin of its own, and its browser names its requests `cross-site`.
 *
 * @throws AnnexError `load_refused` when a page of Annex would run the answer, or take its look from it
 */
export function refuseLoads({ headers }: IncomingMessage): void {
  const destination = String(headers['sec-fetch-dest'] ?? '')
  if (headers['sec-fetch-site'] !== 'same-origin' || passive.has(destination)) return
  throw new AnnexError(
    'load_refused',
    `A page with the URL origin of Annex may not load this as ${destination || 'anything'}: an integration has made it. Load it from a page of another host.`,
  )
}
