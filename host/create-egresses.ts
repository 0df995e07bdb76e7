import packageJson from '../package.json' with { type: 'json' }
import type { Settings } from './config/load-settings.ts'
import { createEgress, type Egress } from './net/egress.ts'
import { createLookups } from './net/guard/lookups.ts'

/**
 * Scripts and deliveries have connections of their own: neither can take the other's.
 *
 * @param ownOrigin where Annex itself listens: a request that comes back to it counts as one more hop
 */
export function createEgresses(
  settings: Settings,
  ownOrigin: () => string,
  hopsKey: Uint8Array,
): { scriptEgress: Egress; deliveryEgress: Egress } {
  const userAgent = `Annex/${packageJson.version}`
  const options = { allow: settings.EGRESS_ALLOW, userAgent, ownOrigin, hopsKey, resolve: createLookups() }
  // Every installation may have 16 fetches under way: one alone must not take all connections to an origin.
  const scriptEgress = createEgress({ ...options, connectionsPerOrigin: 256 })
  return { scriptEgress, deliveryEgress: createEgress(options) }
}
