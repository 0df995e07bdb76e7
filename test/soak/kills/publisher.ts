import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listening } from '../../support/host-process.ts'

export type Publisher = {
  /** Events that were sent, whatever became of the request. */
  published: Set<string>
  /** Events that Annex said it has, and when: these must be delivered. */
  acknowledged: Map<string, number>
  /** Answers other than an acknowledgement, by status and code. */
  refused: Map<string, number>
  /** Publishes over several connections until it is stopped. */
  publishTo: (host: Listening) => { stop: () => Promise<void> }
  /** Settles when the first event of all was acknowledged, or has not been for too long: before that there is nothing to lose. */
  untilAcknowledged: () => Promise<void>
}

const connections = 4
const longestPauseMs = 40
/** A busy machine may take seconds. */
const patienceMs = 30_000

/** Of requests that a kill has cut off, half are sent again with the same `eventId`, as a careful client does. */
export function createPublisher(random: () => number): Publisher {
  const published = new Set<string>()
  const acknowledged = new Map<string, number>()
  const refused = new Map<string, number>()
  const unsure: string[] = []
  const first = Promise.withResolvers<void>()
  const untilAcknowledged = () => Promise.race([first.promise, sleep(patienceMs, undefined, { ref: false })])
  return { published, acknowledged, refused, publishTo, untilAcknowledged }

  function publishTo(host: Listening): { stop: () => Promise<void> } {
    let stopped = false
    const loops = Array.from({ length: connections }, async () => {
      while (!stopped) {
        await publish(host)
        await sleep(random() * longestPauseMs)
      }
    })
    return {
      async stop() {
        stopped = true
        await Promise.all(loops)
      },
    }
  }

  async function publish({ api, samples }: Listening): Promise<void> {
    const eventId = unsure.pop() ?? `evt_${randomUUID()}`
    published.add(eventId)
    try {
      const path = `/v1/events?organization=${samples.organization}`
      const { status, text, json } = await api('POST', path, siteView(eventId, samples.site))
      if (status === 202 || status === 200) {
        acknowledged.set(eventId, Date.now())
        first.resolve()
      } else {
        const why = `${status} ${json?.error?.code ?? text.slice(0, 60)}`
        refused.set(why, (refused.get(why) ?? 0) + 1)
      }
    } catch {
      if (random() < 0.5) unsure.push(eventId)
    }
  }
}

export const siteView = (eventId: string, siteId: string) => ({
  type: 'site_view',
  eventId,
  siteId,
  visitor: { anonymousId: 'v', userAgent: 'kills', ip: '203.0.113.7', cookies: {} },
  url: 'https://docs.example/',
  referrer: '',
})
