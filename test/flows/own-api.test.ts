import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** An address that no request may reach: the guard refuses it. */
const publicUrl = 'http://10.99.1.2'

/** Makes the fetches that the body of its request lists, all at once, and answers with the results. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { environment, api }) => {
  const asked = await request.json()
  const own = '/v1/integrations/stats/installations/' + environment.installation.id
  const one = async ({ url = '', path = own, init = {}, token = environment.apiTokens.installation, kilobytes, isAborted }) => {
    const headers = { ...(token && { authorization: 'Bearer ' + token }), ...init.headers }
    const body = kilobytes ? JSON.stringify({ configuration: { text: 'x'.repeat(kilobytes * 1024) } }) : init.body
    const controller = new AbortController()
    try {
      const answer = fetch((url || environment.apiEndpoint) + path, { ...init, headers, body, signal: controller.signal })
      if (isAborted) controller.abort()
      const response = await answer
      return { status: response.status, url: response.url, json: await response.json() }
    } catch (error) { return { error: error.name + ': ' + error.message } }
  }
  const client = asked.client ? await api.integrations.getIntegrationByName('stats') : undefined
  return Response.json({ client: client?.data.name, results: await Promise.all((asked.fetches ?? []).map(one)) })
} })`

/** Calls its own endpoint so many times, one within the other, and then the API. */
const deep = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { environment }) => {
  const depth = Number(new URL(request.url).searchParams.get('depth'))
  const { publicEndpoint } = environment.integration.urls
  const url = depth > 0 ? publicEndpoint + '?depth=' + (depth - 1) : environment.apiEndpoint + '/v1/integrations/deep'
  const headers = { authorization: 'Bearer ' + environment.apiTokens.integration }
  return fetch(url, { headers }).then(async (answer) => new Response(answer.status + ' ' + await answer.text()), (error) => new Response(error.message))
} })`

describe('a script’s call to the API', () => {
  let annex: Annex
  let endpoint: string
  let id: string

  before(async () => {
    annex = await startAnnex({ plugins: { stats: { script } }, flags: { PUBLIC_URL: publicUrl } })
    const installed = await installSample(annex, 'stats')
    id = installed.id
    endpoint = annex.url + new URL(installed.endpoint).pathname
  })
  after(() => annex.close())

  const ask = async (asked: object): Promise<{ requestId: string; json: Json }> => {
    const response = await fetch(endpoint, { method: 'POST', body: JSON.stringify(asked) })
    assert.equal(response.status, 200, response.status === 200 ? '' : await response.text())
    return { requestId: response.headers.get('x-request-id') ?? '', json: await response.json() }
  }
  const fetchOne = async (asked: object): Promise<Json> => (await ask({ fetches: [asked] })).json.results[0]

  it('is answered inside the host for any PUBLIC_URL, and counts as no outbound request', async () => {
    const { json, requestId } = await ask({ client: true, fetches: [{}] })
    assert.equal(json.client, 'stats')
    const [result] = json.results
    assert.deepEqual([result.status, result.json.id], [200, id])
    assert.equal(result.url, `${publicUrl}/v1/integrations/stats/installations/${id}`)
    const { json: receipts } = await until(
      () => annex.api('GET', `/v1/receipts?request=${requestId}`),
      (answer) => answer.json.count > 0,
    )
    const { egressCalls, egressBytes, hostCalls } = receipts.items[0]
    assert.deepEqual([egressCalls, egressBytes, hostCalls], [0, 0, 2])
  })

  it('passes the usual checks of the API', async () => {
    assert.equal((await fetchOne({ token: '' })).status, 401)
    assert.equal((await fetchOne({ token: 'forged' })).status, 401)
    assert.equal((await fetchOne({ path: '/v1/jobs' })).status, 403)
    assert.equal((await fetchOne({ path: '/v1/nothing' })).status, 404)
    assert.equal((await fetchOne({ init: { method: 'PATCH', body: '{' } })).status, 400)
  })

  const outside = [
    ['the other scheme', 'https://10.99.1.2', '/v1/spaces'],
    ['another port', 'http://10.99.1.2:81', '/v1/spaces'],
    ['a host that begins like it', 'http://10.99.1.20', '/v1/spaces'],
    ['a public endpoint', publicUrl, '/x/stats'],
    ['/metrics', publicUrl, '/metrics'],
    ['/metrics past /v1', publicUrl, '/v1/../metrics'],
    ['/metrics past an encoded /v1', publicUrl, '/v1/%2e%2e/metrics'],
    ['a public endpoint past backslashes', publicUrl, '\\v1\\..\\x\\stats'],
    ['the path /v1 alone', publicUrl, '/v1'],
    ['a path that begins like /v1', publicUrl, '/v1x/spaces'],
    ['a path with two slashes', publicUrl, '//v1/spaces'],
  ]
  for (const [what, url, path] of outside) {
    it(`leaves the host, and the guard refuses it, for ${what}`, async () => {
      const { error, status } = await fetchOne({ url, path })
      assert.equal(status, undefined)
      assert.match(error, /TypeError: fetch failed: .*10\.99\.1\.2/)
    })
  }

  it('reaches no other path by an encoded slash', async () => {
    for (const path of ['/v1/..%2fmetrics', '/v1/%5c..%5cmetrics', '/v1//metrics', '/v1/%2fmetrics']) {
      const { status, json } = await fetchOne({ path })
      assert.deepEqual([status, json.error.code], [404, 'not_found'], path)
    }
  })

  it('cannot come from a redirect of another host', async () => {
    const elsewhere = createServer((_request, response) => {
      response.writeHead(302, { location: `${publicUrl}/v1/integrations/stats` }).end()
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = elsewhere.address() as { port: number }
      const { error } = await fetchOne({ url: `http://127.0.0.1:${port}`, path: '/' })
      assert.match(error, /fetch failed/)
    } finally {
      elsewhere.close()
    }
  })

  it('loses headers about hosts and proxies, so that it cannot pose as another client', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=127.0.0.1',
      'x-annex-hops': '0.0',
      'transfer-encoding': 'chunked',
      'content-length': '5',
    }
    const { status, json } = await fetchOne({ init: { headers } })
    assert.deepEqual([status, json.id], [200, id])
    assert.ok(!JSON.stringify(json).includes('evil'))
  })

  it('can be aborted', async () => {
    const { error } = await fetchOne({ isAborted: true })
    assert.match(error, /AbortError/)
    assert.equal((await fetchOne({})).status, 200)
  })

  it('is limited in number: a flood gets errors, and other requests are answered', async () => {
    const [{ json }, health] = await Promise.all([
      ask({ fetches: Array.from({ length: 300 }, () => ({})) }),
      fetch(`${annex.url}/healthz`),
    ])
    assert.equal(health.status, 200)
    const answered = json.results.filter(({ status }: Json) => status === 200)
    const refused = json.results.filter(({ error }: Json) => /SANDBOX_CALLS/.test(error))
    assert.ok(answered.length >= 16 && answered.length <= 50, `${answered.length} answered`)
    assert.equal(answered.length + refused.length, 300)
  })

  it('has the body limit of the API', async () => {
    const { status, json } = await fetchOne({ init: { method: 'PATCH' }, kilobytes: 65 })
    assert.deepEqual([status, json.error.code], [413, 'body_too_large'])
    const fits = await fetchOne({ init: { method: 'PATCH' }, kilobytes: 60 })
    assert.deepEqual([fits.status, fits.json.configuration.text.length], [200, 60 * 1024])
  })
})

it('a call that went through eight scripts is refused, also to the API', async () => {
  const annex = await startAnnex({ plugins: { deep: { script: deep } } })
  try {
    const { endpoint } = await installSample(annex, 'deep')
    const ask = async (depth: number) => (await fetch(`${endpoint}?depth=${depth}`)).text()
    assert.match(await ask(2), /^200 200 200 /)
    assert.match(await ask(8), /gone through 8 scripts/)
  } finally {
    await annex.close()
  }
})
