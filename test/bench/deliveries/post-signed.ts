import { Agent } from 'undici'
import { signatureHeader, signWebhook } from '../../../host/webhooks/signature.ts'
import type { BenchedEvent } from './event.ts'
import { inFlight } from './sender.ts'

/** What a job of a peer holds: one for each delivery. */
export type OwedPost = { deliveryId: string; eventId: string; url: string; body: string }

const secret = 'the-secret-of-a-benchmark'
const agent = new Agent({ connections: inFlight, pipelining: 1, keepAliveTimeout: 60_000 })

/** One delivery of the event for each URL. */
export function toPosts(event: BenchedEvent, urls: readonly string[]): OwedPost[] {
  const body = JSON.stringify(event)
  const { eventId } = event
  return urls.map((url, index) => ({ deliveryId: `${eventId}-${index}`, eventId, url, body }))
}

/**
 * One attempt as a careful sender makes it without Annex: signed, over a connection that is kept, the answer read.
 * @throws Error when it is not 2xx: a benchmark has no failures
 */
export async function postSigned({ deliveryId, eventId, url, body }: OwedPost): Promise<{ status: number }> {
  const { origin, pathname } = new URL(url)
  const { statusCode, body: answer } = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [signatureHeader]: signWebhook(body, [secret], Math.floor(Date.now() / 1_000)),
      'x-service-event-id': eventId,
      'x-service-delivery-id': deliveryId,
    },
    body,
  })
  await answer.dump()
  if (statusCode < 200 || statusCode > 299) throw new Error(`${url} answered ${statusCode}`)
  return { status: statusCode }
}
