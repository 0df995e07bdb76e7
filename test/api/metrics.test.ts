import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'
import { owe, senderPlugin } from '../support/sender.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => {
    const { origin } = new URL(request.url)
    if (!request.url.endsWith('/metrics')) return new Response('hi')
    return new Response(String((await fetch(origin + '/metrics')).status))
  },
})`

/** `fetch` does not let its caller set Host. */
function get(url: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    httpRequest(`${url}/metrics`, { headers }, async (response) => {
      resolve({ status: response.statusCode ?? 0, text: await text(response) })
    })
      .on('error', reject)
      .end()
  })
}

describe('/metrics', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { hello: { script } } })
  })
  after(() => annex?.close())

  it('answers a request of this machine in the text format of Prometheus', async () => {
    await request(annex.url, 'GET', '/x/hello')
    const { status, headers, text } = await request(annex.url, 'GET', '/metrics')
    assert.equal(status, 200, text)
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    assert.match(text, /annex_http_requests_total\{to="endpoint",status="200"\} 1\n/)
    assert.match(text, /annex_sandboxes_loaded\{slot="operator#0"\} 1\n/)
    assert.match(text, /annex_wall_level\{level="process"\} 1\n/)
  })

  it('requires an operator’s token from a proxy, a web page, and for a foreign host name', async () => {
    const from: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { via: '1.1 proxy' },
      { origin: 'https://attacker.example' },
      { host: 'rebound.attacker.example' },
    ]
    for (const headers of from) {
      assert.equal((await get(annex.url, headers)).status, 401, JSON.stringify(headers))
    }
    const { status } = await annex.api('GET', '/metrics')
    assert.equal(status, 200)
  })

  it('refuses scripts, although their requests come from this machine', async () => {
    const { text } = await request(annex.url, 'GET', '/x/hello/metrics')
    assert.equal(text, '401')
  })
})

describe('/metrics of deliveries', () => {
  it('counts pending deliveries, the age of the oldest, attempts by outcome, and receivers by state', async () => {
    const good = await startReceiver(200)
    const bad = await startReceiver(503)
    const flags = { DELIVERY_RETRY_SECONDS: Array(12).fill('0.05').concat('3600').join(',') }
    const annex = await startAnnex({ sandboxes: 'processes', plugins: { sender: senderPlugin }, flags })
    try {
      const { endpoint } = await installSample(annex, 'sender')
      const [delivered] = await owe(endpoint, { url: good.url })
      await owe(endpoint, { url: bad.url })
      // Ten failures in a row open the circuit, before the tenth is stored and counted.
      await bad.waitFor(10)
      const { text } = await until(
        () => annex.api('GET', '/metrics'),
        ({ text }) =>
          text.includes('annex_circuits_open 1\n') &&
          /annex_delivery_attempt_seconds_count\{outcome="rejected"\} \d{2}\n/.test(text) &&
          text.includes('annex_jobs{kind="delivery",state="due"} 1\n'),
      )
      assert.match(text, /annex_jobs\{kind="task",state="failed"\} 0\n/)
      assert.doesNotMatch(
        text,
        /annex_jobs\{kind="delivery",state="failed"\}/,
        'that is not what failed deliveries are',
      )
      const [, age = ''] = /annex_oldest_pending_seconds\{kind="delivery"\} (\S+)\n/.exec(text) ?? []
      assert.ok(Number(age) > 0 && Number(age) < 60, age)
      assert.match(text, /annex_oldest_pending_seconds\{kind="event"\} 0\n/)
      assert.match(text, /annex_delivery_attempt_seconds_count\{outcome="delivered"\} 1\n/)
      assert.match(text, /annex_delivery_attempt_seconds_count\{outcome="rejected"\} 1[0-3]\n/)
      assert.match(text, /annex_delivery_seconds_count\{state="delivered"\} 1\n/)
      assert.match(text, /annex_deliveries_total\{state="delivered"\} 1\n/)
      assert.match(text, /annex_webhook_receivers\{state="active"\} 2\n/)
      const shown = await annex.api('GET', `/v1/deliveries/${delivered}`)
      const { days } = (await annex.api('GET', `/v1/receivers/${shown.json.receiver}`)).json
      assert.deepEqual(
        days.map(({ delivered, failed, attempts }: Json) => [delivered, failed, attempts]),
        [[1, 0, 1]],
      )
      assert.match(days[0].day, /^\d{4}-\d{2}-\d{2}$/)
    } finally {
      await annex.close()
      await good.close()
      await bad.close()
    }
  })
})

describe('METRICS_ACCESS', () => {
  for (const [flags, expected] of [
    [{ METRICS_ACCESS: 'operator' }, 401],
    [{ METRICS_ACCESS: 'loopback', PUBLIC_URL: 'https://annex.example' }, 401],
    [{ METRICS_ACCESS: 'anyone', PUBLIC_URL: 'https://annex.example' }, 200],
  ] as const) {
    it(`${JSON.stringify(flags)} answers without a token with ${expected}`, async () => {
      const annex = await startAnnex({ sandboxes: 'processes', flags })
      try {
        assert.equal((await request(annex.url, 'GET', '/metrics')).status, expected)
        assert.equal((await annex.api('GET', '/metrics')).status, 200)
      } finally {
        await annex.close()
      }
    })
  }
})
