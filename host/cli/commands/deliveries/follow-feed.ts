import { setTimeout as sleep } from 'node:timers/promises'
import { isAnnexError, messageOf } from '../../../errors/annex-error.ts'
import { isApiError } from '../../api/api-error.ts'
import type { DeliveryFilter, FeedItem } from '../../delivery-feed.ts'
import type { Session } from '../../session.ts'
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
  let isAway = false
  const goOnFrom = (id: string) => {
    place = id
    isAway = false
  }
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (isFirst) terminal.say('Waiting for deliveries. Ctrl+C ends this.')
      const from = { lastEventId: place, onPlace: goOnFrom }
      for await (const { event, data, ...stream } of api.events('/v1/deliveries/feed', filter, from)) {
        retryMs = stream.retryMs ?? retryMs
        if (stream.lastEventId !== '') goOnFrom(stream.lastEventId)
        if (event === 'end') terminal.say(`The feed has ended: ${JSON.parse(data).reason}`)
        else printFeedItem(terminal, JSON.parse(data) as FeedItem)
      }
    } catch (error) {
      if (isFirst ? isApiError(error) || isAnnexError(error) : isRefusal(error)) throw error
      if (!isAway) terminal.say(`${messageOf(error)} It is trying again.`)
      isAway = true
    }
    await sleep(retryMs)
  }
}

/** What is answered with 5xx is so for a while: by a proxy while Annex starts, or by Annex while it stops. */
const isRefusal = (error: unknown): boolean => isApiError(error) && error.status < 500
