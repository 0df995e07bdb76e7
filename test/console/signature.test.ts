import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkSignature, clockOffset, commonLength } from '../../host/console/app/deliveries/signature.ts'
import { signatureHeader, signHeaders } from '../../host/webhooks/signature.ts'

const body = '{"event":"site_view","text":"it’s 🙂 é"}'
const sign = (secrets: Parameters<typeof signHeaders>[0]['secrets'], text = body) =>
  signHeaders({ body: text, deliveryId: 'dlv_1', secrets, nowMs: 1_767_225_600_000, standard: false })

describe('the check of a signing secret in the browser', () => {
  it('agrees with the signature of the host', () => {
    for (const text of [body, '', 'a'.repeat(100_000), '\n', '\ud800']) {
      assert.equal(
        checkSignature({ headers: sign({ current: 'secret' }, text), body: text }, 'secret'),
        'matches',
      )
    }
  })

  it('says that the secret is another one, whatever the receiver has read', () => {
    const sent = { headers: sign({ current: 'secret' }), body }
    for (const secret of ['Secret', 'secret ', '', 'secret\n', 'whsec_secret'])
      assert.equal(checkSignature(sent, secret), 'other-secret', JSON.stringify(secret))
    assert.equal(checkSignature(sent, 'wrong', `${body}\n`), 'other-secret')
  })

  it('says that the body was changed when the secret is right', () => {
    const sent = { headers: sign({ current: 'secret' }), body }
    for (const read of [
      `${body}\n`,
      body.replace(':', ': '),
      '',
      body.normalize('NFD'),
      body.replace('🙂', '??'),
    ])
      assert.equal(checkSignature(sent, 'secret', read), 'changed', JSON.stringify(read))
    assert.equal(checkSignature(sent, 'secret', body), 'matches')
  })

  it('takes each secret of a rotation', () => {
    const headers = sign({ current: 'new', previous: { secret: 'old', untilMs: 2e12, isFirst: true } })
    for (const secret of ['new', 'old']) assert.equal(checkSignature({ headers, body }, secret), 'matches')
    assert.equal(checkSignature({ headers, body }, 'older'), 'other-secret')
  })

  it('finds the header in any case, and says when there is none', () => {
    const [[, value = ''] = []] = sign({ current: 'secret' })
    for (const name of [signatureHeader, 'x-service-signature', 'X-SERVICE-SIGNATURE'])
      assert.equal(checkSignature({ headers: [[name, value]], body }, 'secret'), 'matches', name)
    for (const headers of [
      [],
      [['X-Other', value]],
      [[signatureHeader, '']],
      [[signatureHeader, 't=1']],
      [[]],
    ])
      assert.equal(checkSignature({ headers, body }, 'secret'), 'missing')
  })

  it('finds where two bodies begin to differ', () => {
    assert.equal(commonLength('abc', 'abd'), 2)
    assert.equal(commonLength('abc', 'abc\n'), 3)
    assert.equal(commonLength('', 'a'), 0)
  })
})

describe('the clock of a receiver', () => {
  const startedAt = '2026-01-01T00:00:00.000Z'
  const offset = (date?: string, durationMs = 40) =>
    clockOffset({ startedAt, durationMs, response: { headers: date === undefined ? [] : [['date', date]] } })

  it('is compared by the date of its answer', () => {
    assert.equal(offset('Thu, 01 Jan 2026 00:00:00 GMT'), 0)
    assert.equal(offset('Thu, 01 Jan 2026 00:07:00 GMT'), 420)
    assert.equal(offset('Wed, 31 Dec 2025 23:50:00 GMT'), -600)
  })

  it('is right within 5 seconds, also after a slow answer', () => {
    assert.equal(offset('Thu, 01 Jan 2026 00:00:05 GMT'), 0)
    assert.equal(offset('Thu, 01 Jan 2026 00:00:09 GMT', 9_000), 0)
  })

  it('is unknown without an answer or a date', () => {
    assert.equal(offset(), undefined)
    assert.equal(offset('soon'), undefined)
    assert.equal(clockOffset({ startedAt, durationMs: 1 }), undefined)
  })
})
