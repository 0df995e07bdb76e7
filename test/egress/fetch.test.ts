import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Egress } from '../../host/egress/egress.ts'
import { type EgressRequest, egressFetch } from '../../host/egress/fetch.ts'
import { bytesOf, openEgress, serve, textOf } from './local-server.ts'

const limits = { timeoutMs: 5_000, maxBytes: 65_536, hops: 0 }

function toRequest(url: string, rest: Partial<EgressRequest> = {}): EgressRequest {
  return { method: 'GET', url, headers: [], redirect: 'follow', ...rest }
}

/** Fetches, and reads the answer to its end. */
const read = async (egress: Egress, url: string): Promise<Uint8Array> =>
  bytesOf(await egressFetch(egress, toRequest(url), limits))

/** A server that records its requests with their bodies. */
async function recorder(t: TestContext) {
  const seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[] = []
  const server = await serve(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', url = '', headers } = request
    seen.push({ method, url, headers, body })
    response.end('ok')
  })
  return { ...server, seen }
}

describe('an outbound request', () => {
  it('sends method, path, headers and bytes, and returns status, headers and bytes', async (t) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
    const { urlOrigin } = await serve(t, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      response.writeHead(
        207,
        'Many',
        [
          ['X-Saw', `${request.method} ${request.url} ${request.headers['content-type']}`],
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
        ].flat(),
      )
      response.end(Buffer.concat(chunks))
    })
    const answer = await egressFetch(
      openEgress(t),
      toRequest(`${urlOrigin}/a%20b?c=d#e`, {
        method: 'put',
        headers: [['content-type', 'x/y']],
        body: bytes,
      }),
      limits,
    )
    assert.deepEqual([answer.status, answer.statusText, answer.redirected], [207, 'Many', false])
    assert.equal(answer.url, `${urlOrigin}/a%20b?c=d`)
    assert.deepEqual(await bytesOf(answer), bytes)
    const pairs = answer.headers.map(([name, value]) => `${name.toLowerCase()}=${value}`)
    assert.ok(pairs.includes('x-saw=PUT /a%20b?c=d x/y'))
    assert.ok(pairs.includes('set-cookie=a=1') && pairs.includes('set-cookie=b=2'))
    assert.ok(!pairs.some((pair) => /^(connection|keep-alive|transfer-encoding)=/.test(pair)))
  })

  it('drops headers that only the host may set, and adds the default headers of a fetch', async (t) => {
    const { urlOrigin, seen } = await recorder(t)
    const forbidden = 'Host Connection Content-Length Transfer-Encoding Upgrade TE Trailer Keep-Alive Expect'
    const names = [...forbidden.split(' '), 'Proxy-Authorization', 'X-Annex-Hops', 'X-Annex-Anything']
    const headers = names.map((name): [string, string] => [name, 'evil'])
    await egressFetch(
      openEgress(t),
      toRequest(urlOrigin, { headers: [...headers, ['X-Mine', 'kept']] }),
      limits,
    )
    const got = seen[0]?.headers ?? {}
    assert.equal(got.host, new URL(urlOrigin).host)
    assert.equal(got['x-mine'], 'kept')
    assert.match(String(got['x-annex-hops']), /^1\.[0-9a-f]{32}$/)
    assert.equal(got['user-agent'], 'Annex/0.0-test')
    assert.equal(got.accept, '*/*')
    assert.equal(got['accept-encoding'], 'gzip, deflate, br')
    assert.ok(!JSON.stringify(got).includes('evil'), 'nothing of the forbidden headers arrives')
  })

  it("keeps a script's user-agent and accept, and asks for no compression of a range", async (t) => {
    const { urlOrigin, seen } = await recorder(t)
    const headers: [string, string][] = [
      ['User-Agent', 'mine'],
      ['Accept', 'a/b'],
      ['Range', 'bytes=0-1'],
    ]
    await egressFetch(openEgress(t), toRequest(urlOrigin, { headers }), limits)
    const got = seen[0]?.headers
    assert.deepEqual(
      [got?.['user-agent'], got?.accept, got?.['accept-encoding']],
      ['mine', 'a/b', 'identity'],
    )
  })

  it('loses headers of proxies when it goes to Annex itself', async (t) => {
    const { urlOrigin, seen } = await recorder(t)
    const headers: [string, string][] = ['X-Forwarded-For', 'X-Real-IP', 'Forwarded'].map((name) => [
      name,
      '6.6.6.6',
    ])
    await egressFetch(openEgress(t, { ownUrl: () => urlOrigin }), toRequest(urlOrigin, { headers }), limits)
    await egressFetch(openEgress(t), toRequest(urlOrigin, { headers }), limits)
    assert.equal(seen[0]?.headers['x-forwarded-for'], undefined)
    assert.equal(seen[0]?.headers['x-real-ip'], undefined)
    assert.equal(seen[0]?.headers.forwarded, undefined)
    assert.equal(seen[1]?.headers['x-forwarded-for'], '6.6.6.6')
  })

  it('keeps connections alive', async (t) => {
    const { urlOrigin, connections } = await recorder(t)
    const egress = openEgress(t)
    for (let round = 0; round < 20; round += 1) await egressFetch(egress, toRequest(urlOrigin), limits)
    // undici may open a second connection before it sees that the first is free.
    assert.ok(connections() <= 2, `${connections()} connections`)
  })

  it('opens no more connections to a URL origin than the limit', async (t) => {
    const { urlOrigin, connections, seen } = await recorder(t)
    const egress = openEgress(t, { connectionsPerUrlOrigin: 3 })
    await Promise.all(Array.from({ length: 20 }, () => egressFetch(egress, toRequest(urlOrigin), limits)))
    assert.equal(seen.length, 20)
    assert.ok(connections() <= 3, `${connections()} connections`)
  })

  it('refuses methods and headers that a fetch cannot send', async (t) => {
    const { urlOrigin, seen } = await recorder(t)
    const egress = openEgress(t)
    for (const method of ['CONNECT', 'trace', 'TRACK', 'GET / HTTP/1.1\r\nX: y\r\n\r\n', '']) {
      await assert.rejects(egressFetch(egress, toRequest(urlOrigin, { method }), limits), {
        code: 'bad_request',
      })
    }
    for (const header of [
      ['a', 'b\r\nc: d'],
      ['a b', 'c'],
      ['', 'x'],
    ] as [string, string][]) {
      const request = toRequest(urlOrigin, { headers: [header] })
      await assert.rejects(egressFetch(egress, request, limits), { code: 'bad_request' })
    }
    assert.equal(seen.length, 0)
  })

  it('is stopped after too many scripts', async (t) => {
    const { urlOrigin, seen } = await recorder(t)
    const egress = openEgress(t)
    await egressFetch(egress, toRequest(urlOrigin), { ...limits, hops: 7 })
    assert.match(String(seen[0]?.headers['x-annex-hops']), /^8\./)
    await assert.rejects(egressFetch(egress, toRequest(urlOrigin), { ...limits, hops: 8 }), {
      code: 'egress_loop',
    })
    assert.equal(seen.length, 1)
  })
})

describe('the body of an answer', () => {
  const text = 'Handbook '.repeat(500)
  const codings: [string, Buffer][] = [
    ['gzip', gzipSync(text)],
    ['X-GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
  ]
  for (const [at, [encoding, bytes]] of codings.entries()) {
    it(`is decompressed: ${encoding} (${at})`, async (t) => {
      const { urlOrigin } = await serve(t, (_, response) => {
        response.writeHead(404, { 'content-encoding': encoding, 'content-length': bytes.length }).end(bytes)
      })
      const answer = await egressFetch(openEgress(t), toRequest(urlOrigin), limits)
      assert.equal(await textOf(answer), text)
      assert.deepEqual(
        answer.headers.filter(([name]) => /content-(encoding|length)/i.test(name)),
        [],
      )
    })
  }

  it('stays unchanged when its encoding is unknown or nested', async (t) => {
    for (const encoding of ['secret', 'gzip, gzip']) {
      const { urlOrigin } = await serve(t, (_, response) =>
        response.setHeader('content-encoding', encoding).end('raw'),
      )
      const answer = await egressFetch(openEgress(t), toRequest(urlOrigin), limits)
      assert.equal(await textOf(answer), 'raw')
      assert.ok(
        answer.headers.some(
          ([name, value]) => name.toLowerCase() === 'content-encoding' && value === encoding,
        ),
      )
    }
  })

  it('is empty for HEAD, 204 and 304, also with headers of a body', async (t) => {
    const { urlOrigin } = await serve(t, (request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { 'content-encoding': 'gzip' }).end()
    })
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 304],
    ] as const) {
      const answer = await egressFetch(openEgress(t), toRequest(`${urlOrigin}/${status}`, { method }), limits)
      assert.deepEqual([answer.status, (await bytesOf(answer)).length], [status, 0])
    }
  })

  it('is refused above the limit, and accepted at the limit', async (t) => {
    const { urlOrigin } = await serve(t, (request, response) =>
      response.end(Buffer.alloc(Number(request.url?.slice(1)))),
    )
    const egress = openEgress(t)
    assert.equal(
      (await bytesOf(await egressFetch(egress, toRequest(`${urlOrigin}/65536`), limits))).length,
      65_536,
    )
    await assert.rejects(read(egress, `${urlOrigin}/65537`), {
      code: 'egress_too_large',
      message: /65536 bytes/,
    })
  })

  for (const [encoding, bomb] of [
    ['gzip', gzipSync(Buffer.alloc(20_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(20_000_000))],
    ['deflate', deflateSync(Buffer.alloc(20_000_000))],
  ] as const) {
    it(`is refused when it is a decompression bomb: ${encoding}, ${bomb.length} bytes to 20 MB`, async (t) => {
      assert.ok(bomb.length < limits.maxBytes)
      const { urlOrigin } = await serve(t, (_, response) =>
        response.setHeader('content-encoding', encoding).end(bomb),
      )
      await assert.rejects(read(openEgress(t), urlOrigin), { code: 'egress_too_large' })
    })
  }

  it('fails when it cannot be decompressed', async (t) => {
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const { urlOrigin } = await serve(t, (_, response) => {
        response.setHeader('content-encoding', encoding).end(Buffer.alloc(64, 0xee))
      })
      await assert.rejects(read(openEgress(t), urlOrigin), {
        code: 'egress_failed',
        message: /cannot be decompressed/,
      })
    }
  })
})
