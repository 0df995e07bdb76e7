// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Makes the requests that its body lists, in turn. A request with `isLate` is not awaited. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, context) => {
    const { environment } = context
    const { asked = [], deliverTo, event } = await request.json()
    for (const { url, path, init, isLate, withSecret } of asked) {
      const headers = path && { authorization: 'Bearer ' + environment.apiTokens.installation }
      const address = (url ?? environment.apiEndpoint + path) + (withSecret ? environment.secrets.API_KEY : '')
      const sent = fetch(address, { headers, ...init }).then((answer) => answer.text(), (error) => console.log(error.message))
      if (!isLate) await sent
    }
    if (deliverTo) await context.integration.queueDelivery({ url: deliverTo, event: { type: 'told' } })
    return new Response('done')
  },
  events: { site_view: async (event, { environment, integration }) => {
    console.log('seen', event.eventId)
    await fetch(environment.siteInstallation.configuration.hook + '/seen')
    await integration.queueDelivery({ url: environment.siteInstallation.configuration.hook + '/hook', event: { type: 'seen' } })
  } },
})`
const settings = {
  site: { properties: { hook: { type: 'string', title: 'Hook', description: 'An address.' } } },
}

describe('the outbound requests of a dispatch', () => {
  let annex: Annex
  let server: Server
  let origin = ''
  let other = ''
  let installed: { id: string; endpoint: string }

  before(async () => {
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://a.example')
      if (pathname === '/never') return
      if (pathname === '/broken') return void request.socket.destroy()
      if (pathname === '/away') return void response.writeHead(302, { location: `${other}/target?q=1` }).end()
      if (pathname === '/named')
        return void response.writeHead(302, { location: `http://me:pass@${origin}/x` }).end()
      if (pathname === '/inside') return void response.writeHead(302, { location: 'http://10.0.0.1/x' }).end()
      response.writeHead(pathname === '/missing' ? 404 : 200).end('fine')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `127.0.0.1:${(server.address() as AddressInfo).port}`
    other = `http://localhost:${(server.address() as AddressInfo).port}`
    process.env.ASKS_API_KEY = 'k3y-of-the-service'
    const more = [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: how a manifest names a variable
      'secrets:\n  API_KEY: ${{ env.ASKS_API_KEY }}',
      `configurations: ${JSON.stringify(settings)}`,
    ].join('\n')
    annex = await startAnnex({
      plugins: { asks: { script, more, scopes: ['site:views:read'] } },
      flags: { EGRESS_ALLOW: '127.0.0.1,localhost' },
    })
    installed = await installSample(annex, 'asks', 'site', { hook: `http://${origin}` })
  })
  after(async () => {
    delete process.env.ASKS_API_KEY
    await annex?.close()
    server.close()
    server.closeAllConnections()
  })

  const receiptOf = async (filter: string, token?: string): Promise<Json> => {
    const { json } = await until(
      () => annex.api('GET', `/v1/receipts?${filter}`, undefined, token),
      (answer) => answer.json.count > 0,
    )
    assert.equal(json.count, 1)
    return (await annex.api('GET', `/v1/receipts/${json.items[0].id}`, undefined, token)).json
  }
  const run = async (asked: object[], more: object = {}): Promise<Json> => {
    const body = JSON.stringify({ asked, ...more })
    const response = await fetch(installed.endpoint, { method: 'POST', body })
    assert.equal(await response.text(), 'done')
    return receiptOf(`request=${response.headers.get('x-request-id')}`)
  }
  const short = ({ method, host, path, status, error, own }: Json) =>
    [method, host, path, own ? 'own' : status, error?.code].filter((one) => one !== undefined)

  it('are in its receipt, with status, time, and the reason of a failure', async () => {
    const receipt = await run([
      { url: `http://${origin}/ok?key=1` },
      { url: `http://${origin}/missing`, init: { method: 'post', body: 'x' } },
      { url: `http://${origin}/broken` },
      { url: 'http://10.0.0.1/inside?x' },
    ])
    assert.deepEqual(receipt.outboundRequests.map(short), [
      ['GET', origin, '/ok', 200],
      ['POST', origin, '/missing', 404],
      ['GET', origin, '/broken', 'egress_failed'],
      ['GET', '10.0.0.1', '/inside', 'egress_refused'],
    ])
    assert.equal(receipt.outboundRequestsLeftOut, 0)
    const [first, , broken, refused] = receipt.outboundRequests
    assert.ok(
      first.ms >= 0 && Date.parse(first.startedAt) >= Date.parse(receipt.startedAt),
      JSON.stringify(first),
    )
    assert.match(broken.error.message, /closed before the answer was complete/)
    assert.match(refused.error.message, /10\.0\.0\.1/)
    assert.doesNotMatch(JSON.stringify(receipt), /key=1/)
  })

  it('are one for each redirect, also the one that is refused', async () => {
    const { outboundRequests: followed } = await run([{ url: `http://${origin}/away` }])
    assert.deepEqual(followed.map(short), [
      ['GET', origin, '/away', 302],
      ['GET', new URL(other).host, '/target', 200],
    ])
    const { outboundRequests: stopped } = await run([{ url: `http://${origin}/inside` }])
    assert.deepEqual(stopped.map(short), [
      ['GET', origin, '/inside', 302],
      ['GET', '10.0.0.1', '/x', 'egress_refused'],
    ])
    const { outboundRequests: named } = await run([{ url: `http://${origin}/named` }])
    assert.deepEqual(named.map(short), [
      ['GET', origin, '/named', 302],
      ['GET', origin, '/x', 'egress_refused'],
    ])
    assert.doesNotMatch(JSON.stringify(named), /pass@|me:/)
    const { outboundRequests: manual } = await run([
      { url: `http://${origin}/away`, init: { redirect: 'manual' } },
      { url: `http://${origin}/away`, init: { redirect: 'error' } },
    ])
    assert.deepEqual(manual.map(short), [
      ['GET', origin, '/away', 302],
      ['GET', origin, '/away', 302, 'egress_failed'],
    ])
  })

  it('are also those to the API of Annex, with their id there', async () => {
    const path = `/v1/integrations/asks/installations/${installed.id}`
    const receipt = await run([{ path }, { path: '/v1/nothing' }])
    assert.deepEqual(receipt.outboundRequests.map(short), [
      ['GET', new URL(annex.url).host, path, 'own'],
      ['GET', new URL(annex.url).host, '/v1/nothing', 'own'],
    ])
    assert.deepEqual(
      receipt.outboundRequests.map(({ status }: Json) => status),
      [200, 404],
    )
    assert.match(receipt.outboundRequests[0].request, /^req_/)
    // They do not leave the host.
    assert.equal(receipt.egressCalls, 0)
  })

  it('show no secret of the script', async () => {
    const { outboundRequests } = await run([
      { url: `http://${origin}/bot`, withSecret: true },
      { url: 'http://10.0.0.1/hook/', withSecret: true },
    ])
    assert.deepEqual(
      outboundRequests.map(({ path }: Json) => path),
      ['/bot[secret API_KEY]', '/hook/[secret API_KEY]'],
    )
  })

  it('show one without an answer when the dispatch ends before', async () => {
    const { outboundRequests } = await run([{ url: `http://${origin}/never`, isLate: true }])
    const [request] = outboundRequests
    assert.deepEqual([request.path, request.status], ['/never', undefined])
  })

  it('lead from an event to the dispatch, its log, its delivery, and back', async () => {
    const published = await annex.api('POST', '/v1/events?organization=home', {
      type: 'site_view',
      siteId: annex.server.samples.site,
      visitor: { anonymousId: 'a', userAgent: 'b', ip: '203.0.113.7', cookies: {} },
      url: 'https://docs.example.com/',
    })
    const event = published.json.id ?? published.json.eventId
    const receipt = await receiptOf(`event=${event}&type=site_view&outcome=ok`)
    assert.deepEqual(receipt.outboundRequests.map(short), [['GET', origin, '/seen', 200]])
    const logs = await annex.api('GET', `/v1/logs?request=${receipt.request}`)
    assert.deepEqual(
      logs.json.items.map(({ text }: Json) => text),
      [`seen ${event}`],
    )
    const { json } = await annex.api('GET', `/v1/deliveries?request=${receipt.request}`)
    assert.deepEqual(
      json.items.map(({ event: { id }, request }: Json) => [id, request]),
      [[event, receipt.request]],
    )
    assert.equal((await annex.api('GET', '/v1/deliveries?request=req_none')).json.count, 0)
    assert.equal((await annex.api('GET', `/v1/receipts?event=${event}&outcome=failed`)).json.count, 0)
    assert.equal((await annex.api('GET', `/v1/receipts?event=${event}&type=task`)).json.count, 0)
  })

  it('lead from a visitor’s request to the delivery that it made, and back', async () => {
    const { request } = await run([], { deliverTo: `http://${origin}/hook` })
    const { json } = await annex.api('GET', `/v1/deliveries?request=${request}`)
    assert.deepEqual(
      json.items.map((delivery: Json) => [delivery.event.type, delivery.request]),
      [['told', request]],
    )
  })

  it('are hidden from another organization', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const { json } = await annex.api('POST', '/v1/orgs/other/tokens', { role: 'admin', label: 'theirs' })
    const { id, request } = await run([{ url: `http://${origin}/ok` }])
    const hidden = await annex.api('GET', `/v1/receipts/${id}`, undefined, json.token)
    assert.equal(hidden.status, 404)
    assert.doesNotMatch(hidden.text, /asks|\/ok/)
    for (const wrong of ['0', 'x', '1e3', '-1', '9'.repeat(15), '9'.repeat(40), request]) {
      assert.equal((await annex.api('GET', `/v1/receipts/${wrong}`)).status, 404, wrong)
    }
    const theirs = await annex.api('GET', `/v1/deliveries?request=${request}`, undefined, json.token)
    assert.equal(theirs.json.count, 0)
  })
})
