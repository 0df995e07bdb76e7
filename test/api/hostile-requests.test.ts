import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import { createHops } from '../../host/egress/loop-guard.ts'
import { isAnnexError } from '../../host/errors.ts'
import { readBody } from '../../host/http/body.ts'
import { toLoggedError } from '../../host/http/errors.ts'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = `
import { createIntegration, ExposableError } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => {
    const last = new URL(request.url).pathname.split('/').at(-1)
    if (last === 'name') return new Response('', { headers: [['set-cookie', '=annex_session=x'], ['set-cookie', '  =annex_b=x']] })
    if (last === 'tokens') return Response.json(environment.apiTokens)
    if (last === 'exposed') throw new ExposableError('for you', 418)
    if (last === 'status') return new Response('', { status: 200, statusText: 'a\\u0100b' })
    if (last === 'headers') return Response.json([...request.headers])
    if (last === 'cookie') return Response.json(request.headers.get('cookie'))
    if (last === 'hops') {
      const { status } = await fetch(new URL(request.url).searchParams.get('to'))
      return Response.json(status)
    }
    return new Response('here')
  },
})`

const settings = `
configurations:
  account:
    properties:
      region: { type: string, title: Region, description: Where, enum: [eu, us] }
      loud: { type: boolean, title: Loud, description: How }`

describe('hostile requests', () => {
  let annex: Annex
  let endpoint: string
  let id: string
  before(async () => {
    annex = await startAnnex({
      plugins: { plain: { script }, settled: { script, more: settings } },
    })
    const installed = await installSample(annex, 'plain', 'site')
    endpoint = installed.endpoint
    id = installed.id
  })
  after(() => annex.close())

  /** Sends raw bytes, and returns all bytes of the answer. */
  async function send(text: string): Promise<string> {
    const { port } = new URL(annex.url)
    const socket = connect(Number(port), '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
    socket.end(text)
    await once(socket, 'close')
    return Buffer.concat(chunks).toString()
  }

  it('get 400 for a broken body or framing, without a log of their token', async () => {
    const answer = await send(
      'POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer annex_op_SECRET\r\nTransfer-Encoding: gzip\r\n\r\nxx',
    )
    assert.doesNotMatch(answer, / 500 /)
    const lines: string[] = []
    const logger = pino(
      { serializers: { err: toLoggedError } },
      { write: (line: string) => void lines.push(line) },
    )
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const server = createServer((request) => {
      request.once('error', (error) => logger.error({ err: error }, 'defect'))
      readBody(request, 1000).then(resolve, resolve)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.end(
      'POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer SECRET\r\nTransfer-Encoding: gzip\r\n\r\nxx',
    )
    const thrown = await promise
    assert.ok(isAnnexError(thrown), String(thrown))
    assert.equal(thrown.code, 'bad_request')
    server.closeAllConnections()
    server.close()
    assert.match(lines.join(''), /HPE_|ECONNRESET/)
    assert.doesNotMatch(lines.join(''), /SECRET|rawPacket/)
    const parserError = Object.assign(new Error('Parse Error'), {
      code: 'HPE_X',
      rawPacket: Buffer.from('SECRET'),
    })
    assert.deepEqual(Object.keys(toLoggedError(parserError)), ['type', 'message', 'stack', 'code'])
  })

  it('cannot turn a header value into a header or a request line', async () => {
    for (const end of ['\n', '\r', '\r\n ', '\n\t', '\0', '\u0085', '\u2028']) {
      const answer = await send(
        `GET /x/plain/headers HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: 1${end}cookie${end}annex_session=x\r\n\r\n`,
      )
      assert.match(answer, /^(HTTP\/1.1 [24]00 |$)/)
      assert.doesNotMatch(answer, /\["(cookie|annex_session=x)"/, JSON.stringify(end))
      const target = await send(
        `GET /x/plain/headers?${end}cookie${end}x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      )
      assert.doesNotMatch(target, /\["cookie"/, JSON.stringify(end))
    }
  })

  for (const [path, status] of [
    ['/v1/setup', 413],
    ['/x/plain', 200],
  ] as const) {
    it(`are answered before their body is complete, and keep their connection: ${path}`, async () => {
      const socket = connect(Number(new URL(annex.url).port), '127.0.0.1')
      let said = ''
      socket.on('data', (chunk: Buffer) => {
        said += chunk
      })
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
      socket.write(`400\r\n${'x'.repeat(1024)}\r\n`.repeat(500))
      await until(
        async () => said,
        (text) => text.startsWith(`HTTP/1.1 ${status}`),
      )
      socket.write('0\r\n\r\nPOST /x/plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      await once(socket, 'close', { signal: AbortSignal.timeout(30_000) })
      assert.equal(said.split('HTTP/1.1 200').length, status === 200 ? 3 : 2)
    })
  }

  it('are refused for deeply nested JSON before parsing', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const post = (body: string) =>
      fetch(`${annex.url}/v1/setup`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
    const refused = await post(deep(1000))
    assert.equal(refused.status, 400)
    assert.match(((await refused.json()) as Json).error.message, /64 levels/)
    assert.equal((await post(deep(64))).status, 422, 'not too deep, but not what the route takes')
    assert.equal(
      (await post(JSON.stringify({ token: `"\\${'['.repeat(100)}` }))).status,
      401,
      'text is no nesting',
    )
    assert.equal((await post(JSON.stringify({ token: 'x'.repeat(5000) }))).status, 413)
  })

  it('get a short answer to many wrong fields', async () => {
    const body = Object.fromEntries(Array.from({ length: 40 }, (_none, index) => [`wrong${index}`, 1]))
    const some = await annex.api('POST', '/v1/setup', body)
    assert.deepEqual([some.status, some.json.error.details.length], [422, 20])
    for (let index = 40; index < 60; index += 1) body[`wrong${index}`] = 1
    assert.match((await annex.api('POST', '/v1/setup', body)).json.error.message, /more than 50 fields/)
    const event = await annex.api('POST', '/v1/events?organization=home', { type: 'site_view', ...body })
    assert.deepEqual([event.status, event.json.error.details.length], [422, 1])
  })

  it('cannot set Annex’s own cookies, with or without a name', async () => {
    const cookies = (await fetch(`${endpoint}/name`)).headers.getSetCookie()
    assert.deepEqual(
      cookies.map((cookie) => cookie.split(';')[0]),
      ['x-annex_session=x', 'x-annex_b=x'],
    )
    const seen = await fetch(`${endpoint}/cookie`, { headers: { cookie: '=annex_session=s; a=1' } })
    assert.equal(await seen.json(), 'a=1')
  })

  it('get error answers with `nosniff`', async () => {
    assert.equal((await fetch(`${annex.url}/x/`)).headers.get('x-content-type-options'), 'nosniff')
    assert.equal((await fetch(`${annex.url}/nowhere`)).headers.get('x-content-type-options'), 'nosniff')
    const exposed = await fetch(`${endpoint}/exposed`)
    assert.deepEqual([exposed.status, exposed.headers.get('x-content-type-options')], [418, 'nosniff'])
  })

  it('do not reach a script by a mistyped id', async () => {
    for (const path of [
      '/x/plain/inst_1',
      '/x/plain/inst_',
      `/x/plain/${id}0`,
      `/x/plain/${id}/sites/site_1`,
      `/x/plain/${id}/spaces/space_1/more`,
    ]) {
      assert.equal((await fetch(annex.url + path)).status, 404, path)
    }
    for (const path of ['/x/plain/instant', `/x/plain/${id}/sites`, `/x/plain/${id}/sites/mine`]) {
      assert.equal((await fetch(annex.url + path)).status, 200, path)
    }
  })

  it('leave no error in the log when the endpoint is paused or missing', async () => {
    const path = `/v1/integrations/plain/installations/${id}`
    await annex.api('POST', `${path}/pause`)
    const again = await annex.api('POST', `${path}/pause`)
    assert.deepEqual([again.status, again.json.error.code], [409, 'conflict'])
    assert.match(again.json.error.message, /is paused already/)
    assert.equal((await fetch(endpoint)).status, 503)
    assert.equal((await fetch(`${annex.url}/x/nobody`)).status, 404)
    assert.equal((await annex.api('GET', '/v1/logs')).json.items.filter(isError).length, 0)
    await annex.api('POST', `${path}/resume`)
  })

  it('leave no error in the log when the connection is reset before the answer', async (t) => {
    const arrived = Promise.withResolvers<() => void>()
    const receiver = createServer((_request, response) => arrived.resolve(() => response.end()))
    t.after(() => receiver.close().closeAllConnections())
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const to = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const socket = connect(Number(new URL(annex.url).port), '127.0.0.1')
    socket.write(`GET /x/plain/hops?to=${to} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const answerReceived = await arrived.promise
    socket.resetAndDestroy()
    await once(socket, 'close')
    const gone = await annex.api('GET', '/healthz')
    assert.equal(gone.status, 200)
    answerReceived()
    // This request's line follows any line of the first request.
    assert.equal((await fetch(`${endpoint}/status`)).status, 500)
    const errors = async () => (await annex.api('GET', '/v1/logs')).json.items.filter(isError)
    const logged = await until(errors, (lines) => lines.length > 0)
    assert.equal(logged.length, 1, JSON.stringify(logged))
  })

  it('cannot forge the number of hops', async (t) => {
    const seen: string[] = []
    const receiver = createServer((request, response) => {
      seen.push(String(request.headers['x-annex-hops']))
      response.end()
    }).listen(0, '127.0.0.1')
    t.after(() => receiver.close())
    await once(receiver, 'listening')
    const to = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    for (const forged of ['zzz', '8', createHops(Buffer.alloc(32)).write(8)]) {
      const response = await fetch(`${endpoint}/hops?to=${to}`, { headers: { 'x-annex-hops': forged } })
      assert.equal(await response.json(), 200, forged)
    }
    assert.equal(seen.length, 3)
    for (const header of seen) assert.match(header, /^1\.[0-9a-f]{32}$/)
  })

  it('get a readable error for each wrong field of an event', async () => {
    const { json } = await annex.api('POST', '/v1/events?organization=home', {
      type: 'site_view',
      eventId: 'two words',
      siteId: annex.server.samples.site,
      visitor: { anonymousId: 'a', userAgent: '', ip: '', cookies: {} },
      url: 'javascript:alert(1)',
    })
    assert.deepEqual(json.error.details, [
      { path: '/eventId', message: 'is 1 to 200 printable ASCII characters, without spaces' },
      { path: '/url', message: 'is an absolute http or https address' },
    ])
  })

  it('of a script cannot store settings of a wrong type, nor read the install key', async () => {
    const { organization } = annex.server.samples
    const installed = (
      await annex.api('POST', '/v1/integrations/settled/installations', {
        organization,
        ...(await agreementTo(annex, 'settled')),
      })
    ).json
    const { installation: token }: Json = await (
      await fetch(`${annex.url}/x/settled/${installed.id}/tokens`)
    ).json()
    const path = `/v1/integrations/settled/installations/${installed.id}`
    const refused = await annex.api('PATCH', path, { configuration: { loud: {}, own: 1 } }, token)
    assert.deepEqual([refused.status, refused.json.error.code], [422, 'configuration_invalid'])
    assert.deepEqual(
      refused.json.error.details.map(({ path }: Json) => path),
      ['/configuration/loud'],
    )
    const stored = await annex.api('PATCH', path, { configuration: { loud: true, own: { a: 1 } } }, token)
    assert.equal(stored.status, 200)
    const own = await annex.api('GET', '/v1/integrations/settled/install-links', undefined, token)
    assert.deepEqual([own.status, own.json.error.code], [403, 'forbidden'])
  })
})

const isError = ({ level }: Json): boolean => level === 'error'
