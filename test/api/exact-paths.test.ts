import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex } from '../support/annex.ts'
import { skipWithoutNginx, startNginx } from '../support/nginx.ts'

type Seen = { status: number; allow: string | undefined; body: string }

/** Sends the target byte for byte: `fetch` would change it. */
function ask(url: string, path: string, { method = 'GET', localAddress = '127.0.0.1' } = {}): Promise<Seen> {
  const { promise, resolve, reject } = Promise.withResolvers<Seen>()
  const { hostname, port } = new URL(url)
  request({ hostname, port, path, method, localAddress }, async (response) => {
    let body = ''
    for await (const chunk of response.setEncoding('utf8')) body += chunk
    resolve({ status: response.statusCode ?? 0, allow: response.headers.allow, body })
  })
    .on('error', reject)
    .end()
  return promise
}

/** Other texts than `/metrics`, which a careless server takes for it. */
const spellings = [
  ...[
    '/METRICS',
    '/Metrics',
    '/metrics/',
    '/metrics//',
    '//metrics',
    '/./metrics',
    '/x/../metrics',
    '/metrics/.',
  ],
  ...[
    '/%6detrics',
    '/%6Detrics',
    '/metrics%20',
    '/metrics%00',
    '/metrics%2f',
    '/metrics;a',
    '/metrics,',
    '/metrics&',
  ],
  ...[
    '\\metrics',
    '/\\metrics',
    '/metrics\\',
    '/metrics\xa0',
    '/metrics\xa0?a',
    '/metrics\xff',
    '/metrics%ff',
    '/metrıcs',
  ],
  ...[
    '/metrics%',
    '/metrics%zz',
    '/metrics%C2%A0',
    '/metrics%EF%BB%BF',
    '/v1/../metrics',
    '/%2e/metrics',
    '/metrics/x',
    '/\\metrics#a',
    '/metrics\\#a',
    '/METRICS#a',
    'http://a/Metrics',
  ],
].filter((path) => !/[^\x21-\xff]/.test(path))

describe('a path of the API', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      flags: { PUBLIC_URL: 'https://annex.example', METRICS_ACCESS: 'anyone', RATE_LIMIT_VISITOR: '0' },
    })
  })
  after(() => annex.close())

  it('has exactly one spelling', async () => {
    for (const exact of ['/metrics', '/metrics?', 'http://annex.example/metrics', '/metrics#a']) {
      const { status, body } = await ask(annex.url, exact)
      assert.deepEqual([status, /^# TYPE/m.test(body)], [200, true], exact)
    }
    for (const path of spellings) {
      const { status } = await ask(annex.url, path)
      assert.ok(status === 404 || status === 400, `${path}: ${status}`)
    }
    for (const path of ['/HEALTHZ', '/healthz/', '/V1/orgs', '/v1/Orgs', '/v1/orgs/', '/openapi.JSON']) {
      const { status } = await annex.api('GET', path)
      assert.equal(status, 404, path)
    }
  })

  it('is refused with 400 if it is not valid UTF-8', async () => {
    for (const path of [
      '/v1/orgs?page=%ff',
      '/v1/orgs/%ff',
      '/v1/orgs/caf\xe9',
      '/v1/orgs?page=caf\xe9',
      '/v1/orgs/%c0%ae',
    ]) {
      const { status, body } = await ask(annex.url, path)
      assert.equal(status, 400, path)
      // Node's parser answers bytes that are not encoded, without a body.
      if (!/[^!-~]/.test(path)) assert.match(body, /no UTF-8/, path)
    }
  })

  it('answers 405 with its allowed methods', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/metrics', 'HEAD, GET'],
      ['PUT', '/v1/orgs', 'HEAD, GET, POST'],
      ['PROPFIND', '/v1/orgs/home', 'HEAD, GET, PATCH, DELETE'],
      ['GET', '/v1/setup', 'POST'],
      ['GET', '/v1/nowhere', undefined],
    ] as const) {
      const seen = await ask(annex.url, path, { method })
      const sort = (text: string | undefined) => text?.split(', ').toSorted()
      assert.deepEqual([seen.status, sort(seen.allow)], [allow === undefined ? 404 : 405, sort(allow)], path)
    }
  })

  it('cannot bypass a block in nginx by another spelling', {
    skip: skipWithoutNginx(),
  }, async (t) => {
    const example = readFileSync(new URL('../../docs/deployment/nginx.conf', import.meta.url), 'utf8')
    const locations = [...example.matchAll(/location [^{]*\{[^}]*\}/g)].map(([block]) => block).join('\n')
    assert.match(locations, /location = \/metrics \{/)
    const nginx = await startNginx(
      locations.replaceAll('http://annex', annex.url).replaceAll(/limit_req .*;/g, ''),
    )
    t.after(nginx.close)
    const from = (localAddress: string, path: string) => ask(nginx.url, path, { localAddress })
    assert.equal((await from('127.0.0.1', '/metrics')).status, 200)
    for (const path of ['/metrics', ...spellings]) {
      const { status, body } = await from('127.0.0.2', path)
      assert.ok([400, 403, 404].includes(status), `${path}: ${status}`)
      assert.doesNotMatch(body, /^# TYPE/m, path)
    }
  })
})
