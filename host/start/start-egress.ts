import type { Settings } from '../config/load-settings.ts'
import { createEgress, type Egress } from '../egress/egress.ts'
import { createOwnApi, type OwnApi } from '../egress/own-api.ts'

/**
 * The ways out of the host. Deliveries and scripts have separate connections and lookups: neither can use up the other's.
 *
 * @param given.ownUrl where this host listens; empty before it does
 * @param ends closes all connections
 */
export function startEgress(
  given: {
    settings: Settings
    version: string
    hopsKey: Uint8Array
    ownUrl: () => string
    publicUrl: () => string
  },
  ends: AsyncDisposableStack,
): { webhooks: Egress; egress: Egress; ownApi: OwnApi } {
  const { settings, version, hopsKey, ownUrl, publicUrl } = given
  const options = { ownUrl, hopsKey, allow: settings.EGRESS_ALLOW, userAgent: `Annex/${version}` }
  // The queue alone limits attempts in flight: no attempt waits for a connection.
  const webhooks = createEgress({ ...options, connectionsPerUrlOrigin: settings.DELIVERY_CONCURRENCY })
  ends.defer(webhooks.close)
  // An installation has up to 16 fetches in flight: one alone must not use up the connections to a URL origin.
  const egress = createEgress({ ...options, connectionsPerUrlOrigin: 256 })
  ends.defer(egress.close)
  const ownApi = createOwnApi(publicUrl, egress)
  ends.defer(ownApi.egress.close)
  return { webhooks, egress, ownApi }
}
