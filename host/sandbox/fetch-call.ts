import { assertDeclared, type DeclaredHosts } from '../egress/declared-hosts.ts'
import type { Egress } from '../egress/egress.ts'
import { type EgressRequest, egressFetch } from '../egress/fetch.ts'
import { createTurns } from '../egress/in-flight-limit.ts'
import { maxRedirects } from '../egress/redirects.ts'
import type { HostCall } from './host-calls.ts'

type Args = Omit<EgressRequest, 'body'>

/** `fetch` of a script: the host makes the outbound request, and its egress guard checks it. */
export function createFetchCall(
  egress: Egress,
  limits: {
    timeoutMs: number
    maxBytes: number
    /** Of one installation: all installations share the connections to an origin. */
    atOnce: number
  },
  declared: Pick<DeclaredHosts, 'isRequired' | 'isOwn'>,
): HostCall<Args> {
  const turns = createTurns(limits.atOnce)
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
      const asker = context.organizationId ?? integration
      const assertAllowed = (url: URL) => assertDeclared(url, { ...declared, integration, hosts })
      const endTurn = await turns.take(context.installationId ?? context.integration, signal)
      try {
        const answer = await egressFetch(egress, request, { ...limits, hops, signal, assertAllowed, asker })
        const { body: given, repeat, ...value } = answer
        // A turn lasts as long as its connection is in use.
        if (given instanceof Uint8Array) endTurn()
        else given.once('close', endTurn)
        // As text: the prelude sends it back unchanged.
        return { value: repeat === undefined ? value : { repeat: JSON.stringify(repeat) }, body: given }
      } catch (error) {
        endTurn()
        throw error
      }
    },
  }
}
