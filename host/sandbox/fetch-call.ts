import type { Egress } from '../egress/egress.ts'
import { type EgressRequest, egressFetch } from '../egress/fetch.ts'
import { createInFlightLimit } from '../egress/in-flight-limit.ts'
import { maxRedirects } from '../egress/redirects.ts'
import { assertDeclared, type DeclaredHosts } from '../egress/target.ts'
import type { HostCall } from './host-calls.ts'

type Args = Omit<EgressRequest, 'body'>

/** `fetch` of a script: the host makes the outbound request, and its egress guard checks it. */
export function createFetchCall(
  egress: Egress,
  limits: {
    timeoutMs: number
    maxBytes: number
    /** Requests of one installation in flight, as all installations share the connections to an origin. */
    inFlight: number
  },
  declared: Pick<DeclaredHosts, 'isRequired' | 'isOwn'>,
): HostCall<Args> {
  const inFlight = createInFlightLimit(limits.inFlight)
  return {
    name: 'fetch',
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
    async run(args, { context, body, signal }) {
      const hasBody = !(body instanceof Uint8Array) || body.byteLength > 0
      const request = { ...args, ...(hasBody && { body }) }
      const { integration, declaredHosts: hosts, hops } = context
      const tenant = context.organizationId ?? integration
      const assertAllowed = (url: URL) => assertDeclared(url, { ...declared, integration, hosts })
      const leave = await inFlight.enter(context.installationId ?? context.integration, signal)
      try {
        const answer = await egressFetch(egress, request, { ...limits, hops, signal, assertAllowed, tenant })
        const { body: given, repeat, ...value } = answer
        // The request is in flight for as long as it uses its connection.
        if (given instanceof Uint8Array) leave()
        else given.once('close', leave)
        // As text: the prelude sends it back unchanged.
        return { value: repeat === undefined ? value : { repeat: JSON.stringify(repeat) }, body: given }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}
