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
    resolve: () => assert.fail('An address needs no lookup.'),
    onDefect: (error) => defects.push(error),
    ...options,
  })
  t.after(sender.close)
  const nowMs = Date.now()
  const send = (url: string, asker?: string) =>
    sender.send(
      { ...deliveryTo(url, '{"a":1}'), endpointId: 'ep_1' },
      { current: secret },
      { nowMs, timeoutMs: 10_000, ...(asker && { asker }) },
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

  it('asks the host for the addresses of names, and says for whom', async (t) => {
    const { port } = await serve(t, (_request, response) => response.end())
    const asked: string[] = []
    const { send } = openSender(t, {
      async resolve(hostname, asker) {
        asked.push(`${hostname} for ${asker}`)
        if (hostname === 'receiver.test') return [{ address: '127.0.0.1', family: 4 }]
        throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      },
    })
    const [found, missing] = await Promise.all([
      send(`http://receiver.test:${port}/`, 'org_a'),
      send(`https://nobody.test:${port}/`, 'org_b'),
    ])
    assert.deepEqual(asked.toSorted(), ['nobody.test for org_b', 'receiver.test for org_a'])
    assert.equal(found?.outcome, 'delivered')
    assert.equal(missing?.error?.code, 'egress_failed')
    assert.match(missing?.error?.message ?? '', /ENOTFOUND/)
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
