import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { egressFetch } from '../../host/egress/fetch.ts'
import { type Hop, nextHop } from '../../host/egress/redirects.ts'
import { openEgress, serve, textOf } from './local-server.ts'

const limits = { timeoutMs: 5_000, maxBytes: 65_536, hops: 0 }

const hopOf = (method: string): Hop => ({
  method,
  url: new URL('https://a.test/dir/page?q=1#part'),
  headers: [
    ['Authorization', 'Bearer x'],
    ['COOKIE', 'c=1'],
    ['Content-Type', 'x/y'],
    ['X-Mine', '1'],
  ],
  body: method === 'GET' || method === 'HEAD' ? undefined : new Uint8Array([1]),
})

describe('the request after a redirect', () => {
  const methods: [string, number, string][] = [
    ['POST', 301, 'GET'],
    ['POST', 302, 'GET'],
    ['POST', 303, 'GET'],
    ['POST', 307, 'POST'],
    ['POST', 308, 'POST'],
    ['PUT', 301, 'PUT'],
    ['PUT', 302, 'PUT'],
    ['PUT', 303, 'GET'],
    ['DELETE', 303, 'GET'],
    ['HEAD', 303, 'HEAD'],
    ['GET', 302, 'GET'],
  ]
  for (const [method, status, expected] of methods) {
    it(`is ${expected} after ${method} and ${status}`, () => {
      const hop = nextHop(hopOf(method), status, '/next')
      assert.equal(hop.method, expected)
      const changed = method !== expected
      assert.equal(hop.body === undefined, changed || method === 'GET' || method === 'HEAD')
      assert.equal(
        hop.headers.some(([name]) => name === 'Content-Type'),
        !changed,
      )
    })
  }

  it('has a URL with relative locations resolved, and with the fragment', () => {
    const next = (location: string): string => nextHop(hopOf('GET'), 302, location).url.href
    assert.equal(next('other'), 'https://a.test/dir/other#part')
    assert.equal(next('//b.test/x'), 'https://b.test/x#part')
    assert.equal(next('?r#own'), 'https://a.test/dir/page?r#own')
    assert.equal(next(Buffer.from('/müsli').toString('latin1')), 'https://a.test/m%C3%BCsli#part')
    assert.throws(() => next('http://['), { code: 'egress_failed' })
  })

  it('has credentials for the same URL origin only', () => {
    const names = (location: string): string[] =>
      nextHop(hopOf('GET'), 302, location).headers.map(([name]) => name)
    assert.deepEqual(names('/next'), ['Authorization', 'COOKIE', 'Content-Type', 'X-Mine'])
    for (const elsewhere of ['http://a.test/', 'https://a.test:444/', 'https://b.a.test/']) {
      assert.deepEqual(names(elsewhere), ['Content-Type', 'X-Mine'])
    }
  })
})

describe('a fetch that is redirected', () => {
  /** Sends `/n` to `/n-1`; `/0` answers. */
  const countdown = (t: TestContext) =>
    serve(t, (request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('end')
      else response.writeHead(302, { location: `/${left - 1}` }).end('moved')
    })
  const get = (url: string, redirect: 'follow' | 'manual' | 'error' = 'follow') => ({
    method: 'GET',
    url,
    headers: [],
    redirect,
  })

  it('fails after 20 redirects, over one connection', async (t) => {
    const { urlOrigin, connections } = await countdown(t)
    const egress = openEgress(t)
    const answer = await egressFetch(egress, get(`${urlOrigin}/20`), limits)
    assert.deepEqual([answer.status, answer.redirected, answer.url], [200, true, `${urlOrigin}/0`])
    assert.ok(connections() < 5, `${connections()} connections`)
    await assert.rejects(egressFetch(egress, get(`${urlOrigin}/21`), limits), {
      message: /more than 20 redirects/,
    })
  })

  it('follows no redirect if the script asks for the redirect or an error', async (t) => {
    const { urlOrigin } = await countdown(t)
    const egress = openEgress(t)
    const answer = await egressFetch(egress, get(`${urlOrigin}/1`, 'manual'), limits)
    assert.deepEqual([answer.status, answer.redirected, await textOf(answer)], [302, false, 'moved'])
    assert.ok(answer.headers.some(([name, value]) => name.toLowerCase() === 'location' && value === '/0'))
    await assert.rejects(egressFetch(egress, get(`${urlOrigin}/1`, 'error'), limits), {
      message: /it was redirected/,
    })
  })

  it('has one deadline for the whole chain', async (t) => {
    const { urlOrigin } = await serve(t, (_, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 60)
    })
    const short = { ...limits, timeoutMs: 250 }
    await assert.rejects(egressFetch(openEgress(t), get(urlOrigin), short), { code: 'egress_timeout' })
  })

  it('does not read the endless body of a redirect', async (t) => {
    const destination = await serve(t, (_, response) => response.end('there'))
    const { urlOrigin } = await serve(t, (_, response) => {
      response.writeHead(302, { location: destination.urlOrigin })
      const timer = setInterval(() => response.write('x'.repeat(4_096)), 5)
      response.on('close', () => clearInterval(timer))
    })
    assert.equal((await egressFetch(openEgress(t), get(urlOrigin), limits)).status, 200)
  })
})
