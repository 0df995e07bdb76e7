import { createServer, type RequestListener } from 'node:http'
import { duplexPair } from 'node:stream'
import { Agent, type buildConnector } from 'undici'
import { AnnexError } from '../errors.ts'
import type { Egress } from './egress.ts'

/**
 * Annex's own API, for scripts. A request to it stays in this process: its HTTP goes over a pair of streams and not over a
 * socket. The app answers it as it answers any other request, with the same checks.
 */
export type OwnApi = {
  /** Whether a URL is one of the API: exactly the origin of `apiEndpoint`, and a path below `/v1/`. */
  has: (url: URL) => boolean
  /** Sends to the API alone. */
  egress: Egress
  /** @param onAnswered is called for each request when its answer is sent or its script has gone */
  serve: (handle: RequestListener, onAnswered: (status: number) => void) => void
}

/** More than one installation may use at once (SANDBOX_FETCHES_AT_ONCE). Further requests wait. */
const connections = 512

/** @param publicUrl the value of `environment.apiEndpoint` */
export function createOwnApi(
  publicUrl: () => string,
  { userAgent, writeHops }: Pick<Egress, 'userAgent' | 'writeHops'>,
): OwnApi {
  const server = createServer({ keepAliveTimeout: 65_000 })
  const connect: buildConnector.connector = (_options, callback) => {
    const [mine, theirs] = duplexPair()
    server.emit('connection', theirs)
    // undici cannot use a connection before it has returned from asking for one.
    process.nextTick(callback as (error: null, connection: unknown) => void, null, mine)
  }
  const dispatcher = new Agent({ connect, connections, pipelining: 1, keepAliveTimeout: 60_000 })
  return {
    has: ({ origin: urlOrigin, pathname }) =>
      pathname.startsWith('/v1/') && urlOrigin === URL.parse(publicUrl())?.origin,
    egress: { dispatcher, userAgent, writeHops, isOwn: () => true, close: () => dispatcher.destroy() },
    serve(handle, onAnswered) {
      server.on('request', (request, response) => {
        response.on('close', () => onAnswered(response.statusCode))
        handle(request, response)
      })
    },
  }
}

/** The API redirects to nothing but itself. @throws AnnexError `egress_refused` */
export function assertStaysInside(url: URL, api: Pick<OwnApi, 'has'>): void {
  if (api.has(url)) return
  throw new AnnexError(
    'egress_refused',
    `The API redirects to ${url.origin}${url.pathname}, which is not the API.`,
  )
}
