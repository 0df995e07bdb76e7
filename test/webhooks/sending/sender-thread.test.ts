import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { type SenderOptions, startSender } from '../../../host/webhooks/sending/start-sender.ts'
import { startThread } from '../../../host/webhooks/sending/start-thread.ts'
import { verifyWebhook } from '../../../host/webhooks/signature.ts'
import { hopsKey, serve } from '../../net/local-server.ts'
import { deliveryTo, secret } from '../receivers.ts'

function openSender(t: TestContext, options: Partial<SenderOptions> = {}) {
  const defects: unknown[] = []
  const sender = startSender({
    ...{ allow: ['127.0.0.1'], hopsKey, userAgent: 'Annex/0.0-test', ownOrigin: () => '' },
    atOnce: { inAll: 64, perEndpoint: 16 },
    onDefect: (error) => defects.push(error),
    ...options,
  })
  t.after(sender.close)
  const nowMs = Date.now()
  const send = (url: string) =>
    sender.send(
      { ...deliveryTo(url, '{"a":1}'), endpointId: 'ep_1' },
      { current: secret },
      { nowMs, timeoutMs: 10_000 },
    )
  return { send, defects, nowMs }
}

describe('the thread that sends', () => {
  it('sends what it is given, signed, however much at once', async (t) => {
    const seen: boolean[] = []
    const { origin } = await serve(t, (request, response) => {
      let body = ''
      request.on('data', (piece) => {
        body += piece
      })
      request.on('end', () => {
        const header = request.headers['x-service-signature'] as string
        seen.push(verifyWebhook(header, body, secret, { nowSeconds: Date.now() / 1_000 }).valid)
        response.end('taken')
      })
    })
    const { send, nowMs } = openSender(t)
    const attempts = await Promise.all(Array.from({ length: 100 }, () => send(`${origin}/hook`)))
    assert.deepEqual(new Set(seen), new Set([true]))
    assert.equal(seen.length, 100)
    for (const { outcome, status, responseBody, startedAtMs } of attempts) {
      assert.deepEqual([outcome, status, responseBody], ['delivered', 200, 'taken'])
      // Its own time, when it was its turn.
      assert.ok(startedAtMs >= nowMs && startedAtMs <= Date.now())
    }
  })

  it('may have been started before anybody knows what it is to do', async (t) => {
    const { origin } = await serve(t, (request, response) => response.end(request.headers['user-agent']))
    const thread = startThread()
    thread.unref()
    await once(thread, 'online')
    const { send } = openSender(t, { thread })
    assert.equal((await send(origin)).responseBody, 'Annex/0.0-test')
  })

  it('resolves names by itself', async (t) => {
    const { port } = await serve(t, (_request, response) => response.end())
    const { send } = openSender(t, { allow: ['localhost'] })
    const found = await send(`http://localhost:${port}/`)
    assert.equal(found.outcome, 'delivered', String(found.error?.message))
    assert.ok('dnsMs' in JSON.parse(found.timing))
    const missing = await send(`https://no-such-name.invalid:${port}/`)
    assert.match(String(missing.error?.message), /ENOTFOUND|EAI_AGAIN/)
  })

  it('refuses inner addresses as the host does, and knows which is its own', async (t) => {
    const { origin } = await serve(t, (_request, response) => response.end())
    const inner = openSender(t, { allow: [] })
    const refused = await inner.send(`${origin}/hook`)
    assert.equal(refused.error?.code, 'egress_refused')
    const own = openSender(t, { allow: [], ownOrigin: () => origin })
    assert.equal((await own.send(`${origin}/hook`)).outcome, 'delivered')
  })

  it('leaves an attempt without an answer behind when it ends, says so, and begins anew', async (t) => {
    // The thread cannot read it, and ends each time that it is started.
    const { send, defects } = openSender(t, { allow: ['no address'] })
    for (const times of [1, 2]) {
      const { outcome, error } = await send('http://127.0.0.1:9/')
      assert.equal(outcome, 'error')
      assert.match(error?.message ?? '', /whether the receiver has it, nobody knows/)
      assert.ok(defects.length >= times)
    }
    assert.match(String(defects[0]), /no address/)
  })
})
