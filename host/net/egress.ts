import { lookup } from 'node:dns/promises'
import { Agent, type Dispatcher } from 'undici'
import { parseAllowList } from './guard/allow-list.ts'
import { createGuardedConnect, type Resolve } from './guard/guarded-connect.ts'
import { createHops } from './request/loop-guard.ts'

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
  /** Name resolution, for tests. Default: the operating system's, so that /etc/hosts counts. */
  resolve?: Resolve
}

/**
 * Makes an egress: an undici Agent that checks each address which it connects to. Connections are kept alive and
 * carry one request at a time.
 *
 * @throws AnnexError `settings_invalid` when an entry of `allow` cannot be read
 */
export function createEgress(options: EgressOptions): Egress {
  const { ownOrigin, userAgent = 'Annex', connectionsPerOrigin = 64 } = options
  const { resolve = (hostname) => lookup(hostname, { all: true }) } = options
  const isOwn = (origin: string): boolean => {
    const own = ownOrigin?.()
    return own !== undefined && URL.parse(own)?.origin === origin
  }
  const dispatcher = new Agent({
    connect: createGuardedConnect({ allow: parseAllowList(options.allow), resolve, isOwn }),
    connections: connectionsPerOrigin,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    // A receiver may ask for a longer life of a connection, within reason.
    keepAliveMaxTimeout: 60_000,
  })
  const { write: writeHops } = createHops(options.hopsKey)
  return { dispatcher, userAgent, writeHops, isOwn, close: () => dispatcher.destroy() }
}
