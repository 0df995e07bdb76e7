import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../schemas/client.ts'
import type { BenchedAnnex } from '../bench/servers/start-annex.ts'
import type { SoakReceiver } from './receiver.ts'

/** Two events a second, for every honest installation. */
export function publishEvents(annex: BenchedAnnex): { published: Set<string>; stop: () => Promise<void> } {
  const api = createClient({ url: annex.origin, token: annex.token })
  const published = new Set<string>()
  const visitor = { anonymousId: 'v1', userAgent: 'soak', ip: '203.0.113.7', cookies: {} }
  const running = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const eventId = `evt_${randomUUID()}`
    const event = {
      type: 'site_view',
      eventId,
      siteId: annex.samples.site,
      visitor,
      url: 'https://docs.example/',
      referrer: '',
    } as const
    const query = { organization: annex.organization }
    const publishing = api.call('POST /v1/events', { query, body: event }).then(() => {
      published.add(eventId)
      running.delete(publishing)
    })
    running.add(publishing)
  }, 500)
  return {
    published,
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
    },
  }
}

/** Waits up to half a minute for all pending deliveries. */
export async function waitForDeliveries(published: Set<string>, { delivered }: SoakReceiver): Promise<void> {
  const end = Date.now() + 30_000
  while (Date.now() < end && [...published].some((id) => !delivered.has(id))) await sleep(200)
}
