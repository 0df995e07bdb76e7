import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { createSigningSecret, isSigningSecret } from '../../host/access/secret-box.ts'
import { createId } from '../../host/db/ids.ts'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { type SigningSecrets, signHeaders } from '../../host/webhooks/signature.ts'
import { openEgress, serve } from '../egress/local-server.ts'

/** Two independent implementations. `verify` throws. */
const verifiers = { standardwebhooks: StandardWebhook, svix: SvixWebhook }
const [old, current] = [createSigningSecret(), createSigningSecret()]
const body = '{"eventId":"evt_1","note":"Grüße 👋"}'
const deliveryId = createId('dlv')

const headersOf = (secrets: SigningSecrets, given: { nowMs?: number; id?: string; body?: string } = {}) =>
  signHeaders({
    body: given.body ?? body,
    deliveryId: given.id ?? deliveryId,
    secrets,
    nowMs: given.nowMs ?? Date.now(),
    standard: true,
  })

const recordOf = (headers: [string, string][]): Record<string, string> => Object.fromEntries(headers)

describe('the headers of Standard Webhooks', () => {
  it('match the test vector of the specification’s packages', () => {
    // Made by standardwebhooks 1.1.1: `sign('msg_p5jXN8AQM9LWM0D4loKWxJek', 2021-02-26T10:06:54Z, '{"test": 2432232314}')`.
    const headers = headersOf(
      { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      { nowMs: 1_614_265_330_000, id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' },
    )
    assert.deepEqual(headers.slice(1), [
      ['webhook-id', 'msg_p5jXN8AQM9LWM0D4loKWxJek'],
      ['webhook-timestamp', '1614265330'],
      ['webhook-signature', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    ])
  })

  for (const [name, Webhook] of Object.entries(verifiers)) {
    it(`are accepted by ${name} with the secret as it is shown, for any body`, () => {
      fc.assert(
        fc.property(fc.json(), (text) => {
          const headers = recordOf(headersOf({ current }, { body: text }))
          new Webhook(current).verify(text, headers)
        }),
        { numRuns: 50 },
      )
    })

    it(`are refused by ${name} for another body, id, time or secret`, () => {
      const headers = recordOf(headersOf({ current }))
      const refused = (text: string, change: Record<string, string>, secret = current) =>
        assert.throws(() => new Webhook(secret).verify(text, { ...headers, ...change }), /signature/i)
      refused(`${body} `, {})
      refused(body, { 'webhook-id': createId('dlv') })
      refused(body, { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 7) })
      refused(body, {}, old)
    })

    it(`are accepted by ${name} with either secret during a rotation, in either order`, () => {
      for (const isFirst of [true, false]) {
        const previous = { secret: old, untilMs: Date.now() + 60_000, isFirst }
        const headers = recordOf(headersOf({ current, previous }))
        assert.match(headers['webhook-signature'] ?? '', /^v1,\S{44} v1,\S{44}$/)
        for (const secret of [old, current]) new Webhook(secret).verify(body, headers)
        const ended = recordOf(headersOf({ current, previous: { ...previous, untilMs: 0 } }))
        assert.throws(() => new Webhook(old).verify(body, ended), /signature/i)
      }
    })
  }

  it('are sent only with DELIVERY_STANDARD_WEBHOOKS', () => {
    const secrets = { current }
    const headers = signHeaders({ body, deliveryId, secrets, nowMs: 0, standard: false })
    assert.equal(headers.length, 1)
  })

  it('refuse an id that would sign another request or end a header', () => {
    for (const id of ['', 'dlv.1', 'dlv_1 ', 'dlv_1\r\nx-evil: 1', 'dlv_é', 'x'.repeat(201)]) {
      assert.throws(() => headersOf({ current }, { id }), { code: 'bad_request' }, JSON.stringify(id))
    }
  })
})

describe('a signed attempt over HTTP', () => {
  it('is accepted by both packages as received', async (t) => {
    const { promise, resolve } = Promise.withResolvers<{ headers: IncomingHttpHeaders; raw: string }>()
    const { urlOrigin } = await serve(t, async (request, response) => {
      let raw = ''
      for await (const chunk of request.setEncoding('utf8')) raw += chunk
      resolve({ headers: request.headers, raw })
      response.end()
    })
    const delivery = { id: deliveryId, eventId: 'evt_1', url: urlOrigin, body }
    await sendAttempt(openEgress(t), delivery, { current }, { nowMs: Date.now(), standard: true })
    const { headers, raw } = await promise
    assert.equal(headers['webhook-id'], deliveryId)
    for (const Webhook of Object.values(verifiers)) {
      new Webhook(current).verify(raw, headers as Record<string, string>)
    }
  })

  it('is not sent with an id that would end a header and begin another', async (t) => {
    const { urlOrigin, connections } = await serve(t, (_, response) => response.end())
    for (const ids of [
      { id: 'dlv_1\r\nx-evil: 1', eventId: 'evt_1' },
      { id: 'dlv_1', eventId: 'evt_1\nx-evil: 1' },
    ]) {
      const attempt = await sendAttempt(
        openEgress(t),
        { ...ids, url: urlOrigin, body },
        { current },
        { nowMs: 0 },
      )
      assert.equal(attempt.outcome, 'error')
    }
    assert.equal(connections(), 0)
  })
})

describe('a signing secret', () => {
  it('has the length and the form that Annex makes', () => {
    for (let round = 0; round < 50; round++) {
      const secret = createSigningSecret()
      assert.equal(isSigningSecret(secret), true)
      // Some libraries escape a key as a URL does.
      assert.equal(encodeURIComponent(secret), secret)
    }
    const short = Buffer.alloc(23, 1).toString('base64')
    const long = Buffer.alloc(65, 1).toString('base64')
    const weak = ['', 'whsec_', 'whsec_test', 'secret', `whsec_${short}`, `whsec_${long}`]
    const bare = current.slice('whsec_'.length)
    for (const text of [
      ...weak,
      bare,
      `${current}\n`,
      ` ${current}`,
      `${current}==`,
      `whsec_${'A'.repeat(33)}`,
    ]) {
      assert.equal(isSigningSecret(text), false, JSON.stringify(text))
    }
  })
})
