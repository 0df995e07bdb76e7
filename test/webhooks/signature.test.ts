import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import Stripe from 'stripe'
import { signWebhook, verifyWebhook } from '../../host/webhooks/signature.ts'

const secret = 'whsec_Zm9yIHRlc3Rz'
const body = '{"eventId":"evt_1","type":"site_view","note":"Grüße 👋"}'
const nowSeconds = 1_790_000_000
const stripe = new Stripe('sk_test_none')
const verifier = stripe.webhooks.signature
assert.ok(verifier)

describe('the signature of a webhook', () => {
  it('is t and v1, the HMAC-SHA256 of t, a period and the body in lower-case hex', () => {
    const expected = createHmac('sha256', secret).update(`${nowSeconds}.${body}`).digest('hex')
    assert.equal(signWebhook(body, [secret], nowSeconds), `t=${nowSeconds},v1=${expected}`)
  })

  it('does not change from version to version', () => {
    assert.equal(
      signWebhook('{}', ['secret'], 1),
      't=1,v1=1122767b193110cfec322b6f199b599edbf608ed087f2d27afb0b97d99523908',
    )
  })

  it('is the same for text and for its UTF-8 bytes', () => {
    assert.equal(signWebhook(Buffer.from(body), [secret], 1), signWebhook(body, [secret], 1))
  })

  it('is accepted by Stripe’s verifier, and ours accepts Stripe’s signature', () => {
    const secrets = fc.string({ minLength: 1 }).filter((text) => text.trim() === text)
    fc.assert(
      fc.property(fc.json(), secrets, (payload, key) => {
        const now = Math.floor(Date.now() / 1_000)
        const header = signWebhook(payload, [key], now)
        assert.equal(verifier.verifyHeader(payload, header, key), true)
        const theirs = stripe.webhooks.generateTestHeaderString({ payload, secret: key, timestamp: now })
        assert.deepEqual(verifyWebhook(theirs, payload, key, { nowSeconds: now }), { valid: true })
      }),
      { numRuns: 50 },
    )
  })

  it('lets Stripe’s verifier read the event', () => {
    const header = signWebhook(body, [secret], Math.floor(Date.now() / 1_000))
    const event: object = stripe.webhooks.constructEvent(body, header, secret)
    assert.equal('eventId' in event && event.eventId, 'evt_1')
    assert.throws(() => stripe.webhooks.constructEvent(`${body} `, header, secret), /signature/i)
  })
})

describe('verifying a signature', () => {
  const header = signWebhook(body, [secret], nowSeconds)
  const hex = header.slice(header.indexOf('v1=') + 3)
  const verify = (given: string | undefined, text: string | Uint8Array = body, key = secret) =>
    verifyWebhook(given, text, key, { nowSeconds })

  it('accepts further parts and white space', () => {
    assert.deepEqual(verify(header), { valid: true })
    assert.deepEqual(verify(header, Buffer.from(body)), { valid: true })
    const wrong = '0'.repeat(64)
    assert.deepEqual(verify(`v0=x, v1=${wrong}, t=${nowSeconds}, v1=${hex}`), { valid: true })
  })

  const rejected: [string, string | undefined, RegExp][] = [
    ['no header', undefined, /is missing/],
    ['an empty header', '', /is missing/],
    ['no time', `v1=${hex}`, /has no t=/],
    ['a time that is not a number', `t=now,v1=${hex}`, /has no t=/],
    ['a time with a suffix', `t=${nowSeconds}.0,v1=${hex}`, /has no t=/],
    ['no signature', `t=${nowSeconds}`, /has no v1=/],
    ['another scheme', `t=${nowSeconds},v0=${hex}`, /has no v1=/],
    ['another time than the signed one', `t=${nowSeconds + 1},v1=${hex}`, /no v1 part matches/],
    ['upper-case hex', `t=${nowSeconds},v1=${hex.toUpperCase()}`, /no v1 part matches/],
    ['a signature cut short', `t=${nowSeconds},v1=${hex.slice(0, -1)}`, /no v1 part matches/],
    ['a signature with a suffix', `t=${nowSeconds},v1=${hex}00`, /no v1 part matches/],
    ['an empty signature', `t=${nowSeconds},v1=`, /no v1 part matches/],
    ['a signature that is not hex', `t=${nowSeconds},v1=${'é'.repeat(64)}`, /no v1 part matches/],
  ]
  for (const [what, given, reason] of rejected) {
    it(`rejects ${what}`, () => {
      const verification = verify(given)
      assert.equal(verification.valid, false)
      assert.match(verification.valid ? '' : verification.reason, reason)
    })
  }

  it('rejects another body or another secret', () => {
    assert.equal(verify(header, `${body}\n`).valid, false)
    assert.equal(verify(header, body, `${secret} `).valid, false)
  })

  it('rejects a time that is too old or too far ahead', () => {
    const at = (now: number, toleranceSeconds?: number): boolean =>
      verifyWebhook(header, body, secret, {
        nowSeconds: now,
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      }).valid
    assert.equal(at(nowSeconds + 300), true)
    assert.equal(at(nowSeconds + 301), false)
    assert.equal(at(nowSeconds - 301), false)
    assert.equal(at(nowSeconds + 11, 10), false)
  })
})
