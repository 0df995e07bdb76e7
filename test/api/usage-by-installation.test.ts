// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request) => {
    const { searchParams } = new URL(request.url)
    if (searchParams.has('fail')) throw new Error('fails')
    let sum = 0
    for (let n = 0; n < Number(searchParams.get('rounds')); n += 1) sum += Math.sqrt(n)
    return new Response(String(sum))
  },
})`

describe('usage by installation', () => {
  let annex: Annex
  let busy: { id: string; endpoint: string }
  let calm: { id: string; endpoint: string }
  before(async () => {
    annex = await startAnnex({ plugins: { calm: { script }, busy: { script } } })
    calm = await installSample(annex, 'calm')
    busy = await installSample(annex, 'busy')
    await fetch(`${calm.endpoint}?rounds=0`)
    for (let n = 0; n < 10; n += 1) await fetch(`${busy.endpoint}?rounds=1000000`)
    await fetch(`${busy.endpoint}?fail=1`)
  })
  after(() => annex.close())

  const usage = async (query: string): Promise<Json> =>
    (await annex.api('GET', `/v1/usage/installations?${query}`)).json

  it('has the one with the most CPU time first', async () => {
    const { items, count } = await usage('organization=home')
    const own = items.filter(({ installation }: Json) => installation !== undefined)
    assert.equal(count, items.length)
    assert.deepEqual(
      own.map(({ installation, integration, failed }: Json) => [installation, integration, failed]),
      [
        [busy.id, 'busy', 1],
        [calm.id, 'calm', 0],
      ],
    )
    assert.ok(own[0].dispatches >= 2 && own[0].cpuMs > own[1].cpuMs && own[0].maxHeapBytes > 0)
    assert.equal(typeof own[0].egressBytes, 'number')
  })

  it('says what one dispatch may use', async () => {
    assert.deepEqual((await usage('')).limits, {
      ...{ cpuMs: 1000, heapBytes: 64 * 2 ** 20, egressCalls: 50, hostCalls: 50 },
    })
  })

  it('sums what GET /v1/usage sums', async () => {
    const { items } = await usage('span=week')
    const whole = (await annex.api('GET', '/v1/usage?by=day')).json.items
    const sum = (rows: Json[]) => rows.reduce((total, { dispatches }) => total + dispatches, 0)
    assert.equal(sum(items), sum(whole))
  })

  it('has as many as asked for, and says since when', async () => {
    const { items, from } = await usage('limit=1&span=hour')
    assert.deepEqual(
      items.map(({ installation }: Json) => installation),
      [busy.id],
    )
    assert.ok(Math.abs(Date.parse(from) - Date.now() + 3_600_000) < 60_000)
    assert.equal((await annex.api('GET', '/v1/usage/installations?span=year')).status, 400)
  })

  it('is that of the caller’s organization', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const { token } = (await annex.api('POST', '/v1/orgs/other/tokens', { role: 'reader' })).json
    const get = (query: string) =>
      request(annex.url, 'GET', `/v1/usage/installations${query}`, undefined, token)
    assert.deepEqual((await get('')).json.items, [])
    assert.equal((await get('?organization=home')).status, 404)
  })
})
