import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

const hog = {
  script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { searchParams } = new URL(request.url)
    const owed = Array.from({ length: Number(searchParams.get('count')) }, (_, n) =>
      integration.queueDelivery({ url: searchParams.get('url') + '/' + n, event: { type: 'told' } }))
    return Response.json(await Promise.all(owed))
  },
})`,
}

describe('an installation with more silent receivers than deliveries in flight', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  before(async () => {
    // 16 attempts that wait for an answer at the most, each for half a minute.
    const flags = { DELIVERY_CONCURRENCY: '16', DELIVERY_TIMEOUT_MS: '30000' }
    annex = await startAnnex({ plugins: { hog, other: hog, sender: senderPlugin }, flags })
    ends.defer(annex.close)
  })
  after(() => ends.disposeAsync())
  const { receive, settled } = watchDeliveries(ends, () => annex.api)

  it('does not delay another installation, and neither do two of them', async () => {
    const [tarpit, well] = await Promise.all([receive(() => {}), receive(200)])
    const quiet = await installSample(annex, 'sender')
    for (const name of ['hog', 'other']) {
      const { id: hogId, endpoint } = await installSample(annex, name)
      const before = tarpit.received.length
      await fetch(`${endpoint}?${new URLSearchParams({ url: tarpit.url, count: '30' })}`)
      await tarpit.waitFor(before + 2)
      for (let n = 0; n < 3; n++) {
        const [id = ''] = await owe(quiet.endpoint, { url: well.url })
        assert.equal((await settled(id)).state, 'delivered')
      }
      const { json } = await annex.api('GET', `/v1/deliveries?installation=${hogId}&limit=100`)
      assert.equal(json.items.length, 30)
      for (const { attempts } of json.items)
        assert.equal(attempts, 0, 'all of them wait for an answer, or for a turn')
    }
  })
})
