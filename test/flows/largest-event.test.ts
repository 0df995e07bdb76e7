import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { installSample, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const plugins = fileURLToPath(new URL('../../plugins', import.meta.url))
const largest = 262_144

/** A visit that has exactly so many bytes as JSON. Most of its characters have two. */
function visitOf(bytes: number, siteId: string) {
  const cookies: Record<string, string> = { last: '' }
  const visit = {
    ...{ type: 'site_view', eventId: 'evt_large', siteId },
    visitor: { anonymousId: 'v1', userAgent: 'test', ip: '203.0.113.7', cookies },
    url: 'https://docs.example/',
  }
  const missing = () => bytes - Buffer.byteLength(JSON.stringify(visit))
  for (let n = 0; missing() > 8_192; n += 1) cookies[`c${n}`] = 'é'.repeat(Math.min(4_000, missing() / 4))
  cookies.last = 'e'.repeat(missing())
  return visit
}

describe('the largest accepted event', () => {
  it('reaches its receiver whole, and an event with one more byte is refused', async () => {
    await using ends = new AsyncDisposableStack()
    const receiver = await startReceiver(200)
    ends.defer(receiver.close)
    const annex = await startAnnex({ pluginsDir: plugins })
    ends.defer(annex.close)
    const settings = { webhook_url: receiver.url, site_view: true, page_feedback: false }
    await installSample(annex, 'webhook', 'site', settings)
    const { site } = annex.server.samples
    const path = `/v1/events?organization=${annex.server.samples.organization}`

    const refused = await annex.api('POST', path, visitOf(largest + 1, site))
    assert.deepEqual([refused.status, refused.json.error.code], [413, 'body_too_large'])
    assert.match(refused.json.error.message, /262145 bytes as JSON, and at most 262144 are allowed/)
    const published = await annex.api('POST', path, visitOf(largest, site))
    assert.deepEqual([published.status, published.json.installations], [202, 1])
    const deliveries = await until(
      () => annex.api('GET', '/v1/deliveries?event=evt_large'),
      ({ json }) => json.items[0] !== undefined && json.items[0].state !== 'pending',
    )
    assert.equal(deliveries.json.items[0].state, 'delivered')
    const body = receiver.received[0]?.body ?? ''
    assert.ok(Buffer.byteLength(body) > largest, 'with the id of the installation')
    const { installationId: _, ...event } = JSON.parse(body)
    assert.deepEqual(event, visitOf(largest, site))
  })
})
