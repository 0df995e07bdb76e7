import type { Dispatcher } from 'undici'
import { createPools } from './agent.ts'
import { parseAllowList } from './allow-list.ts'
import { createGuardedConnect, type Resolve } from './guard.ts'
import { createHops } from './loop-guard.ts'
import { createLookups } from './resolver.ts'

/** The one way out: every request of scripts and webhooks goes through its dispatcher. */
export type Egress = {
  readonly dispatcher: Dispatcher
  readonly userAgent: string
  /** The value of the header that counts how many scripts a request went through. */
  writeHops(hops: number): string
  /** Whether an origin (`http://127.0.0.1:8787`) is Annex's own. */
  isOwn(origin: string): boolean
  /** Ends every connection at once; requests under way fail with `egress_failed`. */
  close(): Promise<void>
}

export type EgressOptions = {
  /** Entries of EGRESS_ALLOW: host names, addresses, CIDR ranges. */
  allow: readonly string[]
  /**
   * Annex's own address, asked for at each connection since the port is known only after the start. What any
   * visitor can reach there a script may reach too, though it is loopback: exactly this scheme, host and port.
   */
  ownOrigin?: () => string | undefined
  /** `Annex/1.2.3` */
  userAgent?: string
  /** Signs the count of scripts that a request went through: see `createHops`. */
  hopsKey: Uint8Array
  /** Connections to one origin at once; more requests wait in line, and their waiting counts as their time. */
  connectionsPerOrigin?: number
  /** Open connections to all origins together, above which idle ones are closed. */
  connections?: number
  /** How long an idle connection is kept when its server does not say. */
  keepAliveMs?: number
  /** Name resolution. Default: `createLookups`. */
  resolve?: Resolve
}

/**
 * Makes an egress: pools of connections which check each address that they connect to.
 *
 * @throws AnnexError `settings_invalid` when an entry of `allow` cannot be read
 */
export function createEgress(options: EgressOptions): Egress {
  const {
    ownOrigin,
    userAgent = 'Annex',
    connectionsPerOrigin = 64,
    connections = 2_048,
    keepAliveMs = 4_000,
    resolve = createLookups(),
  } = options
  const isOwn = (origin: string): boolean => {
    const own = ownOrigin?.()
    return own !== undefined && URL.parse(own)?.origin === origin
  }
  const dispatcher = createPools({
    connect: createGuardedConnect({ allow: parseAllowList(options.allow), resolve, isOwn }),
    connectionsPerOrigin,
    connections,
    keepAliveMs,
  })
  const { write: writeHops } = createHops(options.hopsKey)
  return { dispatcher, userAgent, writeHops, isOwn, close: () => dispatcher.destroy() }
}
