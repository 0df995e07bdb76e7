import type { Worker } from 'node:worker_threads'
import packageJson from '../../package.json' with { type: 'json' }
import type { Settings } from '../config/load-settings.ts'
import type { EgressOptions } from '../net/egress.ts'
import { type Sender, startSender } from '../webhooks/sending/start-sender.ts'

/**
 * Deliveries and the fetches of scripts, which are opened later. Each has connections and lookups of its own, and neither can
 * take the other's.
 *
 * @param given.ownOrigin where Annex itself listens: a request that comes back to it counts as one more hop
 * @param given.thread that will send, if it was started before
 */
export function createWaysOut(
  settings: Settings,
  given: {
    ownOrigin: () => string
    hopsKey: Uint8Array
    onDefect: (error: unknown) => void
    thread: Worker | undefined
  },
): { sender: Sender; forScripts: EgressOptions } {
  const { onDefect, thread, ...own } = given
  const userAgent = `Annex/${packageJson.version}`
  const options = { ...own, allow: settings.EGRESS_ALLOW, userAgent }
  const atOnce = { inAll: settings.DELIVERY_CONCURRENCY, perEndpoint: settings.DELIVERY_PER_ENDPOINT }
  return {
    sender: startSender({ ...options, atOnce, onDefect, thread }),
    // Every installation may have 16 fetches under way: one alone must not take all connections to an origin.
    forScripts: { ...options, connectionsPerOrigin: 256 },
  }
}
