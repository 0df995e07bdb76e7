import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import Stripe from 'stripe'
import { defaultSchedule, nextStep } from '../../host/queue/retry-schedule.ts'
import { type AttemptOptions, sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { verifyWebhook } from '../../host/webhooks/signature.ts'
import { closedPort, openEgress, serve, serveRaw } from '../egress/local-server.ts'

const secret = 'whsec_test'
const secrets = { current: secret }
const body = '{"eventId":"evt_1",  "type":"site_view","note":"Grüße 👋 \\u0000"}\n'
const deliveryTo = (url: string) => ({ id: 'dlv_1', eventId: 'evt_1', url, body })

const attemptAt = (t: TestContext, url: string, options: Partial<AttemptOptions> = {}) =>
  sendAttempt(openEgress(t), deliveryTo(url), secrets, { nowMs: Date.now(), ...options })

async function answeredBy(t: TestContext, listener: RequestListener) {
  const { urlOrigin } = await serve(t, listener)
  return attemptAt(t, urlOrigin)
}

describe('one attempt', () => {
  it('is a signed POST of the body, byte for byte', async (t) => {
    const { promise, resolve } = Promise.withResolvers<{ request: IncomingMessage; raw: Buffer }>()
    const { urlOrigin } = await serve(t, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      resolve({ request, raw: Buffer.concat(chunks) })
      response.setHeader('X-Receiver', 'mine').end('{"received":true}')
    })
    const nowMs = Date.now()
    const attempt = await attemptAt(t, `${urlOrigin}/hook?a=b`, { nowMs })
    const { request, raw } = await promise
    const { headers } = request
    assert.deepEqual([request.method, request.url, raw.toString()], ['POST', '/hook?a=b', body])
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['content-length'], String(Buffer.byteLength(body)))
    assert.equal(headers['user-agent'], 'Annex/0.0-test')
    assert.equal(headers['x-service-event-id'], 'evt_1')
    assert.equal(headers['x-service-delivery-id'], 'dlv_1')
    assert.match(String(headers['x-annex-hops']), /^1\.[0-9a-f]{32}$/)
    assert.match(
      String(headers['x-service-signature']),
      new RegExp(`^t=${Math.floor(nowMs / 1000)},v1=[0-9a-f]{64}$`),
    )
    const stripe = new Stripe('sk_test_none')
    const header = String(headers['x-service-signature'])
    assert.equal(stripe.webhooks.signature?.verifyHeader(raw, header, secret), true)

    assert.deepEqual([attempt.outcome, attempt.status, attempt.startedAtMs], ['delivered', 200, nowMs])
    assert.equal(attempt.responseBody, '{"received":true}')
    assert.deepEqual(
      attempt.responseHeaders?.find(([name]) => name === 'X-Receiver'),
      ['X-Receiver', 'mine'],
    )
    assert.ok(Number.isInteger(attempt.durationMs) && attempt.durationMs >= 0 && attempt.durationMs < 5_000)
    for (const [name, value] of attempt.requestHeaders) assert.equal(headers[name.toLowerCase()], value)
    assert.equal(attempt.error, undefined)
  })

  for (const [status, outcome] of [
    [200, 'delivered'],
    [204, 'delivered'],
    [400, 'rejected'],
    [410, 'rejected'],
    [500, 'rejected'],
  ] as const) {
    it(`is ${outcome} when the answer is ${status}`, async (t) => {
      const attempt = await answeredBy(t, (_, response) => response.writeHead(status).end())
      assert.deepEqual([attempt.status, attempt.outcome, attempt.responseBody], [status, outcome, ''])
    })
  }

  it('is rejected when the answer is 302, and follows no redirect', async (t) => {
    const elsewhere = await serve(t, (_, response) => response.end())
    const attempt = await answeredBy(t, (_, response) =>
      response.writeHead(302, { location: elsewhere.urlOrigin }).end(),
    )
    assert.deepEqual([attempt.status, attempt.outcome], [302, 'rejected'])
    assert.equal(elsewhere.connections(), 0)
  })

  it('has the Retry-After of a 429, which the retry schedule honours', async (t) => {
    const attempt = await answeredBy(t, (_, response) =>
      response.writeHead(429, { 'Retry-After': '7' }).end('slow down'),
    )
    assert.deepEqual(
      [attempt.outcome, attempt.retryAfter, attempt.responseBody],
      ['rejected', '7', 'slow down'],
    )
    const next = nextStep(defaultSchedule, 1, attempt, { nowMs: 0, random: () => 0 })
    assert.deepEqual(next, { state: 'due', dueAtMs: 7_000 })
  })

  it('shares a kept connection with later attempts', async (t) => {
    const { urlOrigin, connections } = await serve(t, (_, response) => response.end('ok'))
    const egress = openEgress(t)
    for (let round = 0; round < 20; round += 1) {
      await sendAttempt(egress, deliveryTo(urlOrigin), secrets, { nowMs: 0 })
    }
    assert.ok(connections() <= 2, `${connections()} connections`)
  })

  it('is signed and answered among a hundred at the same time', async (t) => {
    const isSigned: boolean[] = []
    const { urlOrigin } = await serve(t, async (request, response) => {
      const header = String(request.headers['x-service-signature'])
      const raw = Buffer.concat(await request.toArray())
      isSigned.push(verifyWebhook(header, raw, secret, { nowSeconds: Date.now() / 1_000 }).valid)
      response.end('taken')
    })
    const egress = openEgress(t)
    const attempts = await Promise.all(
      Array.from({ length: 100 }, () =>
        sendAttempt(egress, deliveryTo(urlOrigin), secrets, { nowMs: Date.now() }),
      ),
    )
    assert.deepEqual(new Set(attempts.map(({ outcome }) => outcome)), new Set(['delivered']))
    assert.deepEqual([isSigned.length, new Set(isSigned)], [100, new Set([true])])
  })

  it("reaches Annex's own address, which is not public", async (t) => {
    const { urlOrigin } = await serve(t, (_, response) => response.end())
    const egress = openEgress(t, { allow: [], ownUrl: () => urlOrigin })
    const attempt = await sendAttempt(egress, deliveryTo(urlOrigin), secrets, { nowMs: 0 })
    assert.equal(attempt.outcome, 'delivered')
  })
})

describe('an attempt is an error', () => {
  it('when the connection is refused', async (t) => {
    const urlOrigin = `http://127.0.0.1:${await closedPort()}`
    const attempt = await attemptAt(t, urlOrigin)
    assert.equal(attempt.outcome, 'error')
    assert.equal(attempt.status, undefined)
    assert.deepEqual(attempt.error, {
      code: 'egress_failed',
      message: `POST ${urlOrigin} failed: the connection was refused (ECONNREFUSED).`,
    })
    assert.ok(attempt.requestHeaders.some(([name]) => name === 'X-Service-Signature'))
  })

  it('when the receiver never answers, or trickles headers', async (t) => {
    const silent = await serveRaw(t, () => {})
    const trickling = await serveRaw(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ')
      const timer = setInterval(() => socket.write('a'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    for (const { urlOrigin } of [silent, trickling]) {
      const attempt = await attemptAt(t, urlOrigin, { timeoutMs: 300 })
      assert.equal(attempt.error?.code, 'egress_timeout')
      assert.match(attempt.error?.message ?? '', /not complete after 300 ms/)
      assert.ok(attempt.durationMs >= 250 && attempt.durationMs < 5_000, `${attempt.durationMs} ms`)
    }
  })

  it('when the receiver resets, closes, or does not speak HTTP', async (t) => {
    const answers = [
      '',
      'HTTP/1.1 200 OK\r\nx:',
      'hello\r\n',
      'HTTP/9.9 200\r\n\r\n',
      '\0\0\0',
      'HTTP/1.1 2000000 OK\r\n\r\n',
    ]
    for (const answer of answers) {
      const { urlOrigin } = await serveRaw(t, (socket) => socket.once('data', () => socket.end(answer)))
      const attempt = await attemptAt(t, urlOrigin)
      assert.deepEqual(
        [attempt.outcome, attempt.error?.code],
        ['error', 'egress_failed'],
        JSON.stringify(answer),
      )
    }
    const reset = await serveRaw(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
    assert.equal((await attemptAt(t, reset.urlOrigin)).error?.code, 'egress_failed')
  })

  it('when the egress guard refuses the URL, and shows nothing of its host', async (t) => {
    const inner = await serve(t, (_, response) => response.end('secret'))
    const egress = openEgress(t, { allow: [] })
    const urls = [
      inner.urlOrigin,
      `http://0x7f.1:${inner.port}/`,
      `http://localhost:${inner.port}/`,
      'file:///etc/passwd',
    ]
    for (const url of urls) {
      const attempt = await sendAttempt(egress, deliveryTo(url), secrets, { nowMs: 0 })
      assert.deepEqual([attempt.outcome, attempt.error?.code], ['error', 'egress_refused'])
      assert.ok(!('responseBody' in attempt) && !('responseHeaders' in attempt) && !('status' in attempt))
      const next = nextStep(defaultSchedule, 1, attempt, { nowMs: 0, random: () => 0 })
      assert.deepEqual(next, { state: 'failed', reason: 'refused' })
    }
    assert.equal(inner.connections(), 0)
  })

  it('when the URL is invalid, or too many scripts led to the delivery', async (t) => {
    assert.equal((await attemptAt(t, 'nonsense')).error?.code, 'bad_request')
    const { urlOrigin } = await serve(t, (_, response) => response.end())
    const looping = { ...deliveryTo(urlOrigin), hops: 8 }
    const attempt = await sendAttempt(openEgress(t), looping, secrets, { nowMs: 0 })
    assert.equal(attempt.error?.code, 'egress_loop')
  })
})

describe('the excerpt of an answer', () => {
  it('is its first 4 KiB, and an endless body is not read further', async (t) => {
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const attempt = await answeredBy(t, (_, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', write).on('close', resolve)
      write()
    })
    await left
    assert.deepEqual([attempt.outcome, attempt.responseBody], ['delivered', 'x'.repeat(4_096)])
  })

  it('is text, also when the bytes are not UTF-8', async (t) => {
    const attempt = await answeredBy(t, (_, response) =>
      response.end(Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x62, 0xe2])),
    )
    assert.equal(attempt.responseBody, 'a\uFFFD\uFFFD\uFFFDb\uFFFD')
  })

  it('does not end in half of a character', async (t) => {
    const attempt = await answeredBy(t, (_, response) => response.end(`${'x'.repeat(4_095)}é and more`))
    assert.equal(attempt.responseBody, 'x'.repeat(4_095))
    const exact = await answeredBy(t, (_, response) => response.end(`${'x'.repeat(4_094)}é`))
    assert.equal(exact.responseBody, `${'x'.repeat(4_094)}é`)
  })

  it('is the part before a body was cut off or became too slow', async (t) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun'
    const cut = await serveRaw(t, (socket) => socket.once('data', () => socket.end(head)))
    const reset = await serveRaw(t, (socket) => {
      socket.once('data', () => socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 50)))
    })
    const stalled = await serveRaw(t, (socket) => socket.once('data', () => socket.write(head)))
    for (const { urlOrigin } of [cut, reset, stalled]) {
      const attempt = await attemptAt(t, urlOrigin, { timeoutMs: 500 })
      assert.deepEqual([attempt.outcome, attempt.status, attempt.responseBody], ['delivered', 200, 'begun'])
    }
  })
})
