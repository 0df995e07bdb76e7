import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import Stripe from 'stripe'
import { createSigningSecret } from '../../host/access/secret-box.ts'
import { type SigningSecrets, signHeaders, verifyWebhook } from '../../host/webhooks/signature.ts'
import { readingReceivers } from '../support/reading-receivers.ts'

const [old, current] = [createSigningSecret(), createSigningSecret()]
const body = '{"eventId":"evt_1","note":"Grüße 👋"}'
const nowMs = 1_790_000_000_999
const untilMs = nowMs + 1
const during = (isFirst: boolean): SigningSecrets => ({
  current,
  previous: { secret: old, untilMs, isFirst },
})

function headerOf(secrets: SigningSecrets, atMs = nowMs): string {
  const headers = signHeaders({ body, deliveryId: 'dlv_1', secrets, nowMs: atMs, standard: false })
  assert.deepEqual(
    headers.map(([name]) => name),
    ['X-Service-Signature'],
  )
  return headers[0]?.[1] ?? ''
}

describe('during the overlap of a rotation', () => {
  for (const [name, reads] of Object.entries(readingReceivers)) {
    it(`a receiver that ${name} accepts the first signature`, () => {
      assert.equal(reads(headerOf(during(true)), body, old), true)
      assert.equal(reads(headerOf(during(false)), body, current), true)
    })

    it(`a receiver that ${name} needs the new secret as soon as the overlap ends`, () => {
      const after = headerOf(during(true), untilMs)
      assert.deepEqual([reads(after, body, current), reads(after, body, old)], [true, false])
      const alone = headerOf({ current })
      assert.deepEqual([reads(alone, body, current), reads(alone, body, old)], [true, false])
    })
  }

  it('a receiver that reads one part does not see the other signature', () => {
    for (const name of ['takes the first part', 'takes the last part, by a map'] as const) {
      assert.equal(readingReceivers[name](headerOf(during(true)), body, current), false, name)
      assert.equal(readingReceivers[name](headerOf(during(false)), body, old), false, name)
    }
  })

  it('our verifier and Stripe’s accept either secret', () => {
    const atMs = Date.now()
    const secrets = { current, previous: { secret: old, untilMs: atMs + 1, isFirst: true } }
    const header = headerOf(secrets, atMs)
    const stripe = new Stripe('sk_test_none')
    for (const secret of [old, current]) {
      assert.deepEqual(verifyWebhook(header, body, secret, { nowSeconds: atMs / 1_000 }), { valid: true })
      assert.ok(stripe.webhooks.constructEvent(body, header, secret))
    }
    assert.throws(() => stripe.webhooks.constructEvent(body, header, createSigningSecret()), /signature/i)
  })

  it('the header has only t and v1 parts, at any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 0, max: 4e12 }), (at, until) => {
        const header = headerOf({ current, previous: { secret: old, untilMs: until, isFirst: true } }, at)
        const count = at < until ? 3 : 1
        assert.match(header, new RegExp(`^t=${Math.floor(at / 1_000)}(,v1=[0-9a-f]{64}){${count}}$`))
      }),
    )
  })
})
