import { setTimeout as sleep } from 'node:timers/promises'
import { isAnnexError } from '../../../errors/annex-error.ts'
import { isApiError } from '../../api/api-error.ts'
import type { Session } from '../../open-session.ts'
import type { DeliveryFilter, FeedItem } from './delivery-feed.ts'
import { printFeedItem } from './print-feed.ts'

const defaultRetryMs = 1_000

/**
 * Prints what happens to deliveries as the server tells it, until interrupted. A connection that ends is made again,
 * and goes on where it was.
 *
 * @param filter.after a time to begin at; default: now
 * @throws ApiError when the server will not have this reader (any more); AnnexError `unavailable` when it is not there
 *   at first
 */
export async function followFeed(
  { api, terminal }: Session,
  filter: DeliveryFilter & { after?: string },
): Promise<void> {
  let place: string | undefined
  let retryMs = defaultRetryMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (isFirst) terminal.say('Waiting for deliveries. Ctrl+C ends this.')
      for await (const { event, data, ...stream } of api.events('/v1/deliveries/feed', filter, place)) {
        retryMs = stream.retryMs ?? retryMs
        place = stream.lastEventId === '' ? place : stream.lastEventId
        if (event === 'end') terminal.say(`The feed has ended: ${JSON.parse(data).reason}`)
        else printFeedItem(terminal, JSON.parse(data) as FeedItem)
      }
    } catch (error) {
      const isOurs = isApiError(error) || (isFirst && isAnnexError(error))
      if (isOurs) throw error
    }
    await sleep(retryMs)
  }
}
