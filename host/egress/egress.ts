import type { Dispatcher } from 'undici'
import { createGuardedConnect, parseAllowList } from './address-guard.ts'
import { createAgent } from './agent.ts'
import { createHops } from './loop-guard.ts'
import { createResolver, type Resolve } from './resolver.ts'

/** The only way out of the host: every request of a script and every attempt at a delivery uses its dispatcher. */
export type Egress = {
  readonly dispatcher: Dispatcher
  readonly userAgent: string
  /** The value of the header that counts how many scripts a request went through. */
  writeHops(hops: number): string
  /** True for the URL origin of Annex (`http://127.0.0.1:8787`). */
  isOwn(urlOrigin: string): boolean
  /** Closes every connection at once. Requests in flight fail with `egress_failed`. */
  close(): Promise<void>
}

export type EgressOptions = {
  /** Entries of EGRESS_ALLOW: host names, addresses, CIDR ranges. */
  allow: readonly string[]
  /**
   * Annex's own URL. It is asked for at each connection, since the port is known only after the start. Any visitor can
   * reach that URL, so a script may reach it too, although it is loopback: exactly this scheme, host and port.
   */
  ownUrl?: () => string | undefined
  /** `Annex/1.2.3` */
  userAgent?: string
  /** Signs the count of scripts that a request went through: see `createHops`. */
  hopsKey: Uint8Array
  /** Connections to one URL origin. Further requests wait for one, and their deadline counts the wait. */
  connectionsPerUrlOrigin?: number
  /** Open connections to all URL origins together. Above this number idle connections are closed. */
  connections?: number
  /** How long an idle connection is kept when its server names no time. */
  keepAliveMs?: number
  /** Default: `createResolver`. */
  resolve?: Resolve
}

/**
 * Creates an egress, whose pools of connections check each address that they connect to.
 *
 * @throws AnnexError `settings_invalid` when an entry of `allow` cannot be read
 */
export function createEgress(options: EgressOptions): Egress {
  const {
    ownUrl,
    userAgent = 'Annex',
    connectionsPerUrlOrigin = 64,
    connections = 2_048,
    keepAliveMs = 4_000,
    resolve = createResolver(),
  } = options
  const isOwn = (urlOrigin: string): boolean => {
    const own = ownUrl?.()
    return own !== undefined && URL.parse(own)?.origin === urlOrigin
  }
  const connect = createGuardedConnect({ allow: parseAllowList(options.allow), resolve, isOwn })
  const dispatcher = createAgent({ connect, connectionsPerUrlOrigin, connections, keepAliveMs })
  const { write: writeHops } = createHops(options.hopsKey)
  return { dispatcher, userAgent, writeHops, isOwn, close: () => dispatcher.destroy() }
}
