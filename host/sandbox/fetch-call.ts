import { assertDeclared, type DeclaredHosts } from '../egress/declared-hosts.ts'
import type { Egress } from '../egress/egress.ts'
import { type EgressRequest, egressFetch } from '../egress/fetch.ts'
import { createInFlightLimit } from '../egress/in-flight-limit.ts'
import { createNote } from '../egress/outbound-requests.ts'
import { assertStaysInside, type OwnApi } from '../egress/own-api.ts'
import { maxRedirects } from '../egress/redirects.ts'
import type { HostCall } from './host-calls.ts'

type Args = Omit<EgressRequest, 'body'>

/**
 * `fetch` of a script: the host makes the outbound request, and its egress guard checks it. A request to Annex's own API
 * stays in the host.
 */
export function createFetchCall(
  { egress, ownApi }: { egress: Egress; ownApi: Pick<OwnApi, 'has' | 'egress'> },
  limits: {
    timeoutMs: number
    maxBytes: number
    /** Requests of one installation in flight, as all installations share the connections to a URL origin. */
    inFlight: number
  },
  declared: Pick<DeclaredHosts, 'isRequired' | 'isOwn'>,
): HostCall<Args> {
  const inFlight = createInFlightLimit(limits.inFlight)
  const isInside = (text: unknown): boolean => {
    const url = typeof text === 'string' ? URL.parse(text) : null
    return url !== null && ownApi.has(url)
  }
  return {
    name: 'fetch',
    isEgress: (args) => !isInside((args as Partial<Args> | null)?.url),
    args: {
      type: 'object',
      required: ['method', 'url', 'headers', 'redirect'],
      additionalProperties: false,
      properties: {
        method: { type: 'string', maxLength: 50 },
        url: { type: 'string', maxLength: 16_384 },
        headers: {
          type: 'array',
          maxItems: 500,
          items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'string', maxLength: 65_536 } },
        },
        redirect: { enum: ['follow', 'manual', 'error'] },
        length: { type: 'integer', minimum: 0 },
        isRepeatable: { type: 'boolean' },
        redirects: { type: 'integer', minimum: 0, maximum: maxRedirects },
      },
    },
    async run(args, { context, body, signal, requests }) {
      const hasBody = !(body instanceof Uint8Array) || body.byteLength > 0
      const request = { ...args, ...(hasBody && { body }) }
      const { integration, declaredHosts: hosts, hops } = context
      const tenant = context.organizationId ?? integration
      const isOwn = isInside(args.url)
      const [through, assertAllowed] = isOwn
        ? [ownApi.egress, (url: URL) => assertStaysInside(url, ownApi)]
        : [egress, (url: URL) => assertDeclared(url, { ...declared, integration, hosts })]
      const leave = await inFlight.enter(context.installationId ?? context.integration, signal)
      try {
        const note = requests && createNote(requests, isOwn)
        const given = { ...limits, hops, signal, assertAllowed, tenant, note }
        const answer = await egressFetch(through, request, given)
        const { body: received, repeat, ...value } = answer
        // The request is in flight for as long as it uses its connection.
        if (received instanceof Uint8Array) leave()
        else received.once('close', leave)
        // As text: the prelude sends it back unchanged.
        return { value: repeat === undefined ? value : { repeat: JSON.stringify(repeat) }, body: received }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}
