import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { readingReceivers } from '../support/reading-receivers.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

/** Queues a delivery to wherever it is told. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) =>
    Response.json(await integration.queueDelivery({ url: await request.text(), event: { type: 'ping' } })),
})`

const takesAny = readingReceivers['takes any part']
const signedBy = ({ headers, body }: Received, secret: string) =>
  takesAny(String(headers['x-service-signature']), body, secret)

describe('a retried delivery', () => {
  it('keeps its body, has the time of each attempt, and both signatures after a rotation', async () => {
    const held = Promise.withResolvers<() => void>()
    const receiver = await startReceiver(
      (response) => held.resolve(() => response.writeHead(503).end()),
      503,
      200,
    )
    const annex = await startAnnex({
      plugins: { signer: { script } },
      flags: { DELIVERY_STANDARD_WEBHOOKS: 'true' },
    })
    try {
      const { path, endpoint, secret } = await installSample(annex, 'signer')
      const { id } = (await (await fetch(endpoint, { method: 'POST', body: receiver.url })).json()) as Json
      const answer = await held.promise
      const { signingSecret } = (await annex.api('POST', `${path}/signing-secret`, {})).json
      answer()
      const received = await receiver.waitFor(3)
      const { json } = await until(
        () => annex.api('GET', `/v1/deliveries/${id}`),
        (found) => found.json.state === 'delivered',
      )
      const times = received.map(({ headers }) =>
        Number(/^t=(\d+),/.exec(String(headers['x-service-signature']))?.[1]),
      )
      const started = json.attemptList.map(({ startedAt }: Json) => Math.floor(Date.parse(startedAt) / 1_000))
      assert.deepEqual(times, started)
      assert.ok(new Set(times).size === 3, `${times}`)
      assert.deepEqual(
        received.map(({ headers }) => Number(headers['webhook-timestamp'])),
        times,
      )
      for (const { body, headers } of received) {
        assert.equal(body, json.body)
        assert.equal(headers['webhook-id'], id, 'the same in each attempt')
      }
      assert.deepEqual(
        received.map((one) => [signedBy(one, secret), signedBy(one, signingSecret)]),
        [
          [true, false],
          [true, true],
          [true, true],
        ],
      )
    } finally {
      await annex.close()
      await receiver.close()
    }
  })
})
