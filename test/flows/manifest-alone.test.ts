import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const says = (text: string) => `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => Response.json({ says: '${text}', name: environment.integration.name }),
})`

const settings = `
configurations:
  account:
    properties:
      color: { type: string, title: Color, description: Which, enum: [red, green], completion_url: /colors }
      size: { type: string, title: Size, description: Which, completion_url: /sizes }`

describe('a manifest without a script', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { bare: { scopes: ['site:views:read'] } } })
  })
  after(() => annex.close())

  it('loads, its installation becomes active, and its endpoints answer 404', async () => {
    assert.deepEqual(
      annex.server.plugins.map(({ state, problems }) => [state, problems]),
      [['loaded', []]],
    )
    // Waits until it is active, in the organization and in the site.
    const { endpoint } = await installSample(annex, 'bare')
    for (const address of [endpoint, `${endpoint}/deeper`, `${annex.url}/x/bare`]) {
      const response = await fetch(address, { method: 'POST', body: 'x' })
      const { error }: Json = await response.json()
      assert.deepEqual([response.status, error.code], [404, 'not_found'])
      assert.equal(error.message, 'The integration bare has no script, so nothing answers here.')
    }
    assert.deepEqual((await annex.api('GET', '/v1/logs?integration=bare')).json.items, [])
    assert.deepEqual((await annex.api('GET', '/v1/jobs?state=failed')).json.items, [])
  })
})

describe('a name with capitals', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { Capital: { script: says('first') } } })
  })
  after(() => annex.close())

  it('works from the manifest to the endpoint', async () => {
    const { id, endpoint } = await installSample(annex, 'Capital', 'site')
    assert.match(endpoint, new RegExp(`/x/Capital/${id}/sites/`))
    for (const address of [endpoint, `${annex.url}/x/Capital`, `${annex.url}/x/Capital/${id}/more`]) {
      const response = await fetch(address)
      assert.deepEqual([response.status, await response.json()], [200, { says: 'first', name: 'Capital' }])
    }
    assert.equal((await annex.api('GET', '/v1/integrations/Capital')).json.name, 'Capital')
    const other = await fetch(`${annex.url}/x/capital`, { redirect: 'manual' })
    assert.deepEqual([other.status, other.headers.get('location')], [308, '/x/Capital'])
  })

  it('is unique regardless of case, also beside retired names', async () => {
    const folder = writePlugin(annex.pluginsDir, 'CAPITAL', { script: says('second') })
    const { json } = await annex.api('POST', '/v1/reload')
    const stateOf = (name: string) => json.items.find((item: Json) => item.folder.endsWith(`/${name}`))?.state
    assert.deepEqual([stateOf('CAPITAL'), stateOf('Capital')], ['failed', 'loaded'])
    rmSync(folder.replace('CAPITAL', 'Capital'), { recursive: true })
    const again = await annex.api('POST', '/v1/reload')
    const [taken] = again.json.items.filter(({ folder }: Json) => /capital$/i.test(folder))
    assert.equal(taken.state, 'failed')
    assert.equal(taken.problems[0].message, 'there is an integration "Capital" already')
    assert.match(taken.problems[0].hint, /write it as "Capital"/)
  })
})

describe('a setting with choices and a completion', () => {
  it('loads, and takes only one of its choices', async () => {
    const annex = await startAnnex({ plugins: { choosing: { script: says('here'), more: settings } } })
    try {
      assert.deepEqual(
        annex.server.plugins.map(({ state }) => state),
        ['loaded'],
      )
      const { organization } = annex.server.samples
      const path = '/v1/integrations/choosing/installations'
      const { json } = await annex.api('POST', path, {
        organization,
        ...(await agreementTo(annex, 'choosing')),
      })
      const edit = (configuration: object) => annex.api('PATCH', `${path}/${json.id}`, { configuration })
      assert.equal((await edit({ color: 'blue' })).status, 422)
      const edited = await edit({ color: 'green', size: 'any' })
      assert.deepEqual([edited.status, edited.json.status], [200, 'active'])
    } finally {
      await annex.close()
    }
  })
})
