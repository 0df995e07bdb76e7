import { buffer } from 'node:stream/consumers'
import { assertDeclared, type DeclaredHosts } from '../egress/declared-hosts.ts'
import type { Egress } from '../egress/egress.ts'
import { egressFetch } from '../egress/fetch.ts'
import { createInFlightLimit } from '../egress/in-flight-limit.ts'
import { AnnexError, messageOf } from '../errors.ts'
import { imageTypeOf } from '../manifest/images.ts'

const timeoutMs = 10_000
const maxBytes = 5 * 1024 * 1024
/** Of one installation or space. */
const maxInFlight = 4

/** `declared`: the hosts of the script that shows the picture. Undefined for a picture of people. */
type PictureOf = {
  id: string
  organization: string
  declared: Pick<DeclaredHosts, 'integration' | 'hosts'> | undefined
}

export type FetchPicture = (address: string, of: PictureOf) => Promise<{ type: string; bytes: Buffer }>

/**
 * Reads a picture of another host for a page. The egress guard checks each connection. A script reaches the hosts that its
 * manifest declares alone. The picture's host learns nothing of the person.
 */
export function createFetchPicture(
  egress: Egress,
  rules: Pick<DeclaredHosts, 'isRequired' | 'isOwn'>,
): FetchPicture {
  const inFlight = createInFlightLimit(maxInFlight)
  return async (address, { id, organization, declared }) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const leave = await inFlight.enter(id, signal)
    try {
      const answer = await egressFetch(
        egress,
        { method: 'GET', url: address, headers: [['accept', 'image/*']], redirect: 'follow' },
        {
          ...{ timeoutMs, maxBytes, signal, hops: 0, tenant: organization },
          assertAllowed: (url) => assertDeclared(url, { ...rules, ...(declared ?? ofPeople) }),
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

/** EGRESS_REQUIRE_DECLARED refuses these pictures: nothing declares their hosts. */
const ofPeople = { integration: 'A page', hosts: undefined }
