import type { Worker } from 'node:worker_threads'
import packageJson from '../package.json' with { type: 'json' }
import type { Settings } from './config/load-settings.ts'
import { createEgress, type Egress } from './net/egress.ts'
import { createLookups } from './net/guard/lookups.ts'
import { type Sender, startSender } from './webhooks/sending/start-sender.ts'

/**
 * What scripts fetch, and what is delivered. Each has connections of its own, and neither can take the other's; lookups of
 * names take turns among all.
 *
 * @param ownOrigin where Annex itself listens: a request that comes back to it counts as one more hop
 */
export function createWaysOut(
  settings: Settings,
  given: {
    ownOrigin: () => string
    hopsKey: Uint8Array
    onDefect: (error: unknown) => void
    /** That will send, if it was started before. */
    thread: Worker | undefined
  },
): { scriptEgress: Egress; sender: Sender } {
  const { onDefect, thread, ...own } = given
  const userAgent = `Annex/${packageJson.version}`
  const options = { ...own, allow: settings.EGRESS_ALLOW, userAgent, resolve: createLookups() }
  // Every installation may have 16 fetches under way: one alone must not take all connections to an origin.
  const scriptEgress = createEgress({ ...options, connectionsPerOrigin: 256 })
  const atOnce = { inAll: settings.DELIVERY_CONCURRENCY, perEndpoint: settings.DELIVERY_PER_ENDPOINT }
  return { scriptEgress, sender: startSender({ ...options, atOnce, onDefect, thread }) }
}
