import { buffer } from 'node:stream/consumers'
import type { Egress } from '../egress/egress.ts'
import { egressFetch } from '../egress/fetch.ts'
import { createInFlightLimit } from '../egress/in-flight-limit.ts'
import { assertDeclared, type DeclaredHosts } from '../egress/outbound-url.ts'
import { AnnexError, messageOf } from '../errors.ts'
import { imageTypeOf } from '../manifest/images.ts'

const timeoutMs = 10_000
const maxBytes = 5 * 1024 * 1024
/** Of one installation. */
const maxInFlight = 4

export type FetchPicture = (
  address: string,
  of: {
    integration: string
    installation: string
    organization: string
    hosts: readonly string[] | undefined
  },
) => Promise<{ type: string; bytes: Buffer }>

/**
 * Reads a picture of another host for a page, as a request of the script: the egress guard checks each connection, and the script
 * reaches the hosts that its manifest declares alone. The picture's host learns nothing of the person.
 */
export function createFetchPicture(
  egress: Egress,
  declared: Pick<DeclaredHosts, 'isRequired' | 'isOwn'>,
): FetchPicture {
  const inFlight = createInFlightLimit(maxInFlight)
  return async (address, { integration, installation, organization, hosts }) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const leave = await inFlight.enter(installation, signal)
    try {
      const answer = await egressFetch(
        egress,
        { method: 'GET', url: address, headers: [['accept', 'image/*']], redirect: 'follow' },
        {
          ...{ timeoutMs, maxBytes, signal, hops: 0, tenant: organization },
          assertAllowed: (url) => assertDeclared(url, { ...declared, integration, hosts }),
        },
      )
      const bytes = answer.body instanceof Uint8Array ? Buffer.from(answer.body) : await buffer(answer.body)
      const type = answer.status === 200 ? imageTypeOf(bytes) : undefined
      if (type !== undefined) return { type, bytes }
      throw new Error(`the host answered ${answer.status}, and no picture that can be shown.`)
    } catch (cause) {
      // One status for all: a page shows a link in its place.
      throw new AnnexError('egress_failed', `The picture was not fetched: ${messageOf(cause)}`, { cause })
    } finally {
      leave()
    }
  }
}
