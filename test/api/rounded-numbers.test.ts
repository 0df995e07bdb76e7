import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('here') })`
const more = 'configurations: { account: { properties: { count: { type: number } } } }'

describe('a number in a JSON body', () => {
  let annex: Annex
  let send: (configuration: string) => Promise<{ status: number; json: Json }>
  before(async () => {
    annex = await startAnnex({ plugins: { counter: { script, more } } })
    const base = '/v1/integrations/counter/installations'
    const { json } = await annex.api('POST', base, {
      organization: annex.server.samples.organization,
      ...(await agreementTo(annex, 'counter')),
    })
    const token = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
    send = async (configuration) => {
      const response = await fetch(`${annex.url}${base}/${json.id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'if-match': '*' },
        body: `{"configuration":${configuration}}`,
      })
      return { status: response.status, json: await response.json() }
    }
  })
  after(() => annex.close())

  for (const count of ['9007199254740993', '-12345678901234567', '1e400', '1'.padEnd(400, '0')]) {
    it(`is refused when JSON would round it: ${count.slice(0, 20)}`, async () => {
      const { status, json } = await send(`{"count":${count}}`)
      assert.equal(status, 400)
      assert.equal(json.error.code, 'bad_request')
      const shown = count.length > 40 ? `${count.slice(0, 40)}…` : count
      assert.equal(
        json.error.message,
        `The number ${shown} would be rounded: send a smaller one, or text where text is taken.`,
      )
    })
  }

  it('is refused as a setting beyond 2^53, also without rounding', async () => {
    const { status, json } = await send('{"count":9007199254740992}')
    assert.equal(status, 422)
    assert.equal(json.error.code, 'configuration_invalid')
    assert.match(json.error.message, /count: must lie within ±9007199254740991/)
  })

  it('is stored when it keeps its digits', async () => {
    const { status, json } = await send('{"count":-9007199254740991}')
    assert.equal(status, 200)
    assert.equal(json.configuration.count, -9007199254740991)
    assert.match((await send('{"count":"9007199254740993"}')).json.error.message, /must be a number/)
    assert.equal((await send('{"count":0.1234567890123456789}')).status, 200)
    assert.equal((await send('{"count":1e3 , "count":12.5e-300}')).status, 200)
  })
})
