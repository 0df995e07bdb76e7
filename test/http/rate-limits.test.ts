import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { Context } from 'koa'
import { createRateLimits } from '../../host/http/rate-limits.ts'
import { visitorOf } from '../../host/http/visitor.ts'
import { type Annex, installSample, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

/** Answers with the number of its dispatches. */
const script = `import { createIntegration } from '@annex/runtime'
let dispatches = 0
export default createIntegration({ fetch: () => new Response(String((dispatches += 1))) })`

/** Small: each flood has to end within ten seconds, also on a busy machine. */
const visitorLimit = 5
const tokenLimit = 30

describe('behind a proxy', () => {
  let annex: Annex
  let endpoint: string
  before(async () => {
    annex = await startAnnex({
      plugins: { counts: { script }, other: { script } },
      flags: {
        PUBLIC_URL: 'https://annex.example',
        RATE_LIMIT_VISITOR: String(visitorLimit),
        RATE_LIMIT_TOKEN: String(tokenLimit),
      },
    })
    const installed = await installSample(annex, 'counts')
    endpoint = annex.url + new URL(installed.endpoint).pathname
  })
  after(() => annex?.close())

  const visit = (from: string, url = endpoint, more = {}) =>
    fetch(url, { headers: { 'x-forwarded-for': from, ...more } })
  const statuses = async (requests: Promise<Response>[]) =>
    (await Promise.all(requests)).map(({ status }) => status)
  /** Sends a head that promises a body, and no body. */
  const promiseBody = (url: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': '100000' } })
      sent.on('error', reject)
      sent.on('response', ({ statusCode }) => {
        resolve(statusCode)
        sent.destroy()
      })
      sent.flushHeaders()
    })
  const many = <T>(count: number, one: (n: number) => T) => Array.from({ length: count }, (_, n) => one(n))

  it('a flood of one visitor gets 429, and no longer reaches the script', async () => {
    const flood = await statuses(many(visitorLimit * 5, () => visit('203.0.113.7')))
    assert.equal(flood.filter((status) => status === 200).length, visitorLimit)
    assert.equal(flood.filter((status) => status === 429).length, visitorLimit * 4)
    const neighbour = await visit('203.0.113.8')
    assert.deepEqual([neighbour.status, await neighbour.text()], [200, String(visitorLimit + 1)])
  })

  it('a refusal names the wait and the limit', async () => {
    const refused = await visit('203.0.113.7')
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(seconds >= 1 && seconds <= 10, `${seconds}`)
    assert.equal(refused.headers.get('ratelimit-policy'), `"visitor";q=${visitorLimit};w=10`)
    assert.equal(refused.headers.get('ratelimit'), `"visitor";r=0;t=${seconds}`)
    assert.equal(refused.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(refused.headers.get('x-content-type-options'), 'nosniff')
    const text = `The address 203.0.113.7 has sent more than ${visitorLimit} requests within 10 seconds. Try again in ${seconds} s.`
    assert.deepEqual(await refused.json(), {
      error: {
        code: 'rate_limited',
        message: text,
        requestId: refused.headers.get('x-request-id'),
        docs: 'docs/errors.md#rate_limited',
      },
    })
  })

  it('immediate repeats get at most ten answers a second on each connection', async () => {
    const started = performance.now()
    let answers = 0
    const repeat = async () => {
      while (performance.now() - started < 1_000) {
        if ((await visit('203.0.113.7')).status === 429) answers += 1
      }
    }
    await Promise.all(many(4, repeat))
    const most = 4 * Math.ceil((performance.now() - started) / 100)
    assert.ok(answers > 0 && answers <= most, `${answers} answers, ${most} at most`)
  })

  it('a refusal does not wait for a body', async () => {
    assert.equal(await promiseBody(endpoint, { 'x-forwarded-for': '203.0.113.7' }), 429)
  })

  it('a visitor who is refused at one endpoint is served at another', async () => {
    assert.equal((await visit('203.0.113.7', `${annex.url}/x/other`)).status, 200)
  })

  it('forged headers have no effect, as the last hop of X-Forwarded-For counts', async () => {
    const forged = many(visitorLimit * 2, (n) =>
      visit(`198.51.100.${n}, 203.0.113.9`, endpoint, {
        forwarded: `for=198.51.100.${n}`,
        'x-real-ip': `198.51.100.${n}`,
      }),
    )
    const served = (await statuses(forged)).filter((status) => status === 200)
    assert.equal(served.length, visitorLimit)
  })

  it('all addresses of one IPv6 network count together', async () => {
    const served = (
      await statuses(many(visitorLimit * 2, (n) => visit(`2001:db8:0:1::${n.toString(16)}`)))
    ).filter((status) => status === 200)
    assert.equal(served.length, visitorLimit)
    assert.equal((await visit('2001:db8:0:2::1')).status, 200)
  })

  it('a token has its own limit, and each answer shows the remaining requests', async () => {
    // The operator's token may have had its share while the sample was installed.
    const make = (path: string, body: object) =>
      until(
        () => annex.api('POST', path, body),
        ({ status }) => status !== 429,
      )
    const { json } = await make('/v1/orgs', { subdomain: 'flood', title: 'Flood' })
    const { token } = (await make(`/v1/orgs/${json.id}/tokens`, {})).json
    const { token: other } = (await make(`/v1/orgs/${json.id}/tokens`, {})).json
    const first = await annex.api('GET', '/v1/orgs', undefined, token)
    assert.equal(first.headers.get('ratelimit-policy'), `"token";q=${tokenLimit};w=10`)
    assert.match(first.headers.get('ratelimit') ?? '', new RegExp(`^"token";r=${tokenLimit - 1};t=(10|9)$`))
    const flood = await Promise.all(
      many(tokenLimit * 2, () => annex.api('GET', '/v1/orgs', undefined, token)),
    )
    assert.equal(flood.filter(({ status }) => status === 200).length, tokenLimit - 1)
    const refused = flood.find(({ status }) => status === 429)
    assert.match(refused?.headers.get('retry-after') ?? '', /^\d+$/)
    assert.equal(await promiseBody(`${annex.url}/v1/orgs`, { authorization: `Bearer ${token}` }), 429)
    assert.equal((await annex.api('GET', '/v1/orgs', undefined, other)).status, 200, 'another token')
  })

  it('guesses of tokens get 429', async () => {
    const guess = (n: number) =>
      fetch(`${annex.url}/v1/orgs`, {
        headers: { authorization: `Bearer annex_op_${n}`, 'x-forwarded-for': '203.0.113.66' },
      })
    const guessed = await statuses(many(visitorLimit * 2, guess))
    assert.equal(guessed.filter((status) => status === 401).length, visitorLimit)
    assert.equal(guessed.filter((status) => status === 429).length, visitorLimit)
  })
})

describe('a visitor who requests unknown resources', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      plugins: { counts: { script }, other: { script } },
      flags: { PUBLIC_URL: 'https://annex.example', RATE_LIMIT_VISITOR: String(visitorLimit) },
    })
  })
  after(() => annex?.close())

  let visitors = 0
  /** The statuses that a new visitor gets, one request after the other. */
  const visit = async (paths: string[], method = 'GET'): Promise<number[]> => {
    visitors += 1
    const headers = { 'x-forwarded-for': `203.0.113.${visitors}` }
    const found: number[] = []
    for (const path of paths) {
      found.push((await fetch(annex.url + path, { method, headers, redirect: 'manual' })).status)
    }
    return found
  }
  const uuid = (n: number) => `019bd3a0-0000-7000-8000-0000000000${String(n).padStart(2, '0')}`
  const site = (n: number) => `/v1/sites/site_${uuid(n)}`
  const kinds: [what: string, pathOf: (n: number) => string, status: number, method?: string][] = [
    ['unknown endpoints', (n) => `/x/unknown-${n}`, 404],
    ['unknown installations', (n) => `/x/counts/inst_${uuid(n)}/a`, 404],
    ['unknown places of an installation', (n) => `/x/counts/inst_${uuid(9)}/sites/site_${uuid(n)}`, 404],
    ['paths of no endpoint', (n) => `/x/counts/inst_${n}`, 404],
    ['unknown routes', (n) => `/nowhere/${n}`, 404],
    ['wrong methods', (n) => `/v1/orgs/${n}`, 405, 'POST'],
    ['connect links', (n) => `/connect/${'a'.repeat(42)}${n}`, 403],
    ['assets', (n) => `/v1/integrations/counts/assets/image-${n}`, 404],
    ['assets of unknown integrations', (n) => `/v1/integrations/unknown-${n}/assets/icon`, 404],
    ['scripts of sites', (n) => `${site(n)}/script.js`, 404],
    [
      'published scripts',
      (n) => `/v1/integrations/counts/installations/inst_${uuid(n)}${site(n).slice(3)}/script`,
      404,
    ],
  ]
  for (const [what, pathOf, status, method] of kinds) {
    it(`has one limit for ${what}`, async () => {
      const paths = Array.from({ length: visitorLimit + 2 }, (_, n) => pathOf(n))
      const expected = [...Array(visitorLimit).fill(status), 429, 429]
      assert.deepEqual(await visit(paths, method), expected)
    })
  }

  it('reads nothing above the limit: an endpoint that no visitor has reached yet is refused', async () => {
    writePlugin(annex.pluginsDir, 'fresh', { script })
    assert.equal((await annex.api('POST', '/v1/reload')).status, 200)
    const { endpoint } = await installSample(annex, 'fresh')
    const { pathname } = new URL(endpoint)
    const wrong = Array.from({ length: visitorLimit }, (_, n) => `/x/fresh/inst_${uuid(n)}`)
    const refused = await visit([...wrong, pathname, '/x/fresh', pathname])
    assert.deepEqual(refused, [...Array(visitorLimit).fill(404), 429, 429, 429])
    // Another visitor finds it, and a third one, who guesses as well, is served then.
    assert.deepEqual(await visit([pathname]), [200])
    assert.deepEqual(await visit([...wrong, pathname, wrong[0] ?? '']), [
      ...Array(visitorLimit).fill(404),
      200,
      429,
    ])
  })

  it('has one limit for all unknown resources, and still reaches existing ones', async () => {
    assert.deepEqual(await visit(['/x/counts']), [200])
    const paths = kinds.filter(([, , , method]) => method === undefined).map(([, pathOf]) => pathOf(0))
    const statuses = await visit([...paths, '/x/counts', '/healthz'])
    assert.deepEqual(statuses.slice(visitorLimit), [
      ...Array(paths.length - visitorLimit).fill(429),
      200,
      200,
    ])
  })

  it('has one limit for all spellings of an endpoint, and another for each other endpoint', async () => {
    const spelled = ['/v1/integrations/counts/assets/icon', '/v1/integrations/c%6Funts/assets/icon']
    const others = ['/v1/integrations/co%75nts/assets/%69con?a', '/v1/integrations/counts/assets/ic%6fn']
    // Refused as there is no such image, or for its query: they count for both.
    const statuses = await visit([...spelled, ...others, ...spelled, ...others])
    assert.deepEqual(statuses.slice(visitorLimit), [429, 429, 429])
    const open = ['/healthz', '/healthz?', '/healthz#a', 'healthz'].map((path) =>
      path.replace(/^(?!\/)/, '/'),
    )
    assert.deepEqual(await visit([...open, ...open]), [...Array(visitorLimit).fill(200), 429, 429, 429])
    const below = [
      '/x/counts',
      '/x/counts/',
      '/x/counts/a?b',
      '/x/counts/A',
      '/x/counts/%61',
      '/x/counts/b',
      '/x/other',
    ]
    assert.deepEqual(await visit(below), [200, 200, 200, 200, 200, 429, 200])
  })
})

describe('on a machine without a proxy', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      plugins: { counts: { script } },
      flags: { RATE_LIMIT_VISITOR: '1', RATE_LIMIT_TOKEN: '1' },
    })
  })
  after(() => annex?.close())

  it('direct requests are not limited', async () => {
    for (let n = 0; n < 3; n += 1) {
      const answers = [await fetch(`${annex.url}/x/counts`), await annex.api('GET', '/v1/orgs')]
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get('ratelimit')]),
        [
          [200, null],
          [200, null],
        ],
      )
    }
  })

  it('a forwarded address is ignored while PUBLIC_URL is empty', async () => {
    const forge = async (n: number) =>
      (await fetch(`${annex.url}/x/counts`, { headers: { 'x-forwarded-for': `198.51.100.${n}` } })).status
    assert.deepEqual([await forge(1), await forge(2), await forge(3)], [200, 429, 429])
  })
})

describe('the visitor of a request', () => {
  const from = (remoteAddress: string, forwarded?: string): IncomingMessage =>
    ({ headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage

  it('is the peer, or the last hop behind a proxy', () => {
    const cases: [peer: string, forwarded: string | undefined, visitor: string][] = [
      ['127.0.0.1', '203.0.113.7', '203.0.113.7'],
      ['::ffff:172.17.0.1', '6.6.6.6, 203.0.113.7', '203.0.113.7'],
      ['10.0.0.1', ' 6.6.6.6 ,2001:db8::1', '20010db800000000/64'],
      ['8.8.8.8', '203.0.113.7', '8.8.8.8'],
      ['::ffff:8.8.8.8', '203.0.113.7', '8.8.8.8'],
      ['127.0.0.1', undefined, '127.0.0.1'],
      ['127.0.0.1', 'unknown', '127.0.0.1'],
      ['127.0.0.1', '203.0.113.7,', '127.0.0.1'],
      ['127.0.0.1', 'x'.repeat(8_000), '127.0.0.1'],
      ['127.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
      ['127.0.0.1', '6.6.6.6:1, 203.0.113.7:65535', '203.0.113.7'],
      ['127.0.0.1', '[2001:db8::1]:4711', '20010db800000000/64'],
      ['127.0.0.1', '[2001:db8::1]', '20010db800000000/64'],
      ['127.0.0.1', '2001:DB8:0:0::1', '20010db800000000/64'],
      ['127.0.0.1', '[::ffff:203.0.113.7]:80', '203.0.113.7'],
      ['127.0.0.1', '::ffff:cb00:7107', '203.0.113.7'],
      ['127.0.0.1', '0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
      ['127.0.0.1', '203.0.113.7:', '127.0.0.1'],
      ['127.0.0.1', '203.0.113.7:a', '127.0.0.1'],
      ['127.0.0.1', '[2001:db8::1', '127.0.0.1'],
      ['127.0.0.1', '[203.0.113.7:80', '127.0.0.1'],
      ['127.0.0.1', '203.0.113.7, [2001:db8::1]:80', '20010db800000000/64'],
      ['::1', '203.0.113.7:80', '203.0.113.7'],
      ['8.8.8.8', '203.0.113.7:80', '8.8.8.8'],
    ]
    for (const [peer, forwarded, visitor] of cases) {
      assert.equal(visitorOf(from(peer, forwarded), true), visitor, `${peer} ${forwarded}`)
    }
    assert.equal(visitorOf(from('127.0.0.1', '203.0.113.7'), false), '127.0.0.1')
  })

  it('is counted in bounded memory, as new addresses replace the oldest counts', async () => {
    const { countVisitor } = createRateLimits({ token: 0, visitor: 1 }, true)
    const visit = async (address: string, path = '/x/echo'): Promise<boolean> => {
      const context = { req: from('127.0.0.1', address), set: () => {} } as unknown as Context
      try {
        await countVisitor(context, path)
        return true
      } catch {
        return false
      }
    }
    assert.deepEqual([await visit('203.0.113.7'), await visit('203.0.113.7')], [true, false])
    const addressOf = (n: number) => `198.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
    const long = `/x/${'a'.repeat(16_000)}`
    for (let n = 0; n < 50_000; n += 1) assert.equal(await visit(addressOf(n), long), true)
    assert.equal(await visit(addressOf(49_999), long), false)
    assert.equal(await visit('203.0.113.7'), true)
  })
})
