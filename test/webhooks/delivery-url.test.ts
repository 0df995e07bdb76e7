// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { installSample, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const url = await request.text()
    return new Response(await integration.queueDelivery({ url, event: { type: 'told' } }).catch((error) => error.message))
  },
})`

it('queueDelivery refuses a URL that every attempt would refuse, with the reason', async (t) => {
  const annex = await startAnnex({ plugins: { queue: { script } } })
  t.after(annex.close)
  const { endpoint } = await installSample(annex, 'queue')
  for (const [url, expected] of [
    ['ftp://receiver.example/', '"ftp://receiver.example/" is not an http or https URL.'],
    [
      'https://somebody:hunter2@receiver.example/hook',
      'The URL of a delivery to receiver.example holds a user name or password. Leave them out: the signature identifies the sender.',
    ],
  ] as const) {
    const answer = await fetch(endpoint, { method: 'POST', body: url })
    assert.equal(await answer.text(), expected)
  }
  assert.equal((await annex.api('GET', '/v1/deliveries')).json.count, 0)
})
