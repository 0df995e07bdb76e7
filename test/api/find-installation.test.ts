import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, request, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.apiTokens),
})`
const more = `configurations:
  account:
    properties:
      label: { type: string, title: Label, description: A text. }
`

describe('an installation that is read by its id alone', () => {
  let annex: Annex
  const ids: Record<string, string> = {}
  const tokens: Record<string, string> = {}
  before(async () => {
    annex = await startAnnex({ plugins: { asks: { script, more }, other: { script } } })
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    for (const organization of ['home', 'acme']) {
      tokens[organization] = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json.token
      for (const name of ['asks', 'other']) {
        const path = `/v1/integrations/${name}/installations`
        const { json } = await annex.api('POST', path, { organization, ...(await agreementTo(annex, name)) })
        const key = `${name} in ${organization}`
        ids[key] = json.id
        const scripts = (await (await fetch(json.urls.publicEndpoint)).json()) as Record<string, string>
        tokens[`${key}, its installation`] = scripts.installation ?? ''
        tokens[`${key}, its integration`] = scripts.integration ?? ''
      }
    }
  })
  after(() => annex.close())

  const read = (id: string | undefined, token?: string) =>
    request(annex.url, 'GET', `/v1/installations/${id}`, undefined, token)

  it('is the same record as at its integration, with an ETag for edits', async () => {
    const id = ids['asks in home'] ?? ''
    const whole = await annex.api('GET', `/v1/integrations/asks/installations/${id}`)
    const found = await annex.api('GET', `/v1/installations/${id}`)
    assert.deepEqual([found.status, found.json], [200, whole.json])
    assert.deepEqual(found.json.configuration, {})
    const etag = found.headers.get('etag') ?? ''
    assert.equal(etag, whole.headers.get('etag'))
    const edit = (tag: string) =>
      fetch(`${annex.url}/v1/integrations/asks/installations/${id}`, {
        method: 'PATCH',
        headers: {
          ...{ authorization: `Bearer ${tokens.home}`, 'content-type': 'application/json' },
          'if-match': tag,
        },
        body: JSON.stringify({ configuration: { label: 'one' } }),
      })
    assert.deepEqual([(await edit(etag)).status, (await edit(etag)).status], [200, 412])
  })

  it('is a 404 with the text of an unknown id for callers that may not see it', async () => {
    const gone = 'inst_01900000-0000-7000-8000-000000000000'
    for (const [caller, hidden] of [
      ['home', ['asks in acme', 'other in acme']],
      ['acme', ['asks in home', 'other in home']],
      ['asks in home, its installation', ['asks in acme', 'other in home', 'other in acme']],
      ['asks in home, its integration', ['other in home', 'other in acme']],
    ] as const) {
      for (const key of hidden) {
        const id = ids[key] ?? ''
        const { status, json } = await read(id, tokens[caller])
        assert.deepEqual([status, json.error.code], [404, 'not_found'], `${caller} ${key}`)
        const missing = await read(gone, tokens[caller])
        assert.equal(missing.json.error.message, json.error.message.replace(id, gone), `${caller} ${key}`)
      }
    }
  })

  it('is found by each caller that may see it', async () => {
    for (const [caller, seen] of [
      ['home', ['asks in home', 'other in home']],
      ['acme', ['asks in acme', 'other in acme']],
      ['asks in home, its installation', ['asks in home']],
      ['asks in home, its integration', ['asks in home', 'asks in acme']],
    ] as const) {
      for (const key of seen) {
        const { status, json } = await read(ids[key], tokens[caller])
        assert.deepEqual([status, json.id], [200, ids[key]], `${caller} ${key}`)
      }
    }
    assert.equal((await read(ids['asks in home'])).status, 401)
  })

  it('is a 404 for a malformed id', async () => {
    const id = ids['asks in home'] ?? ''
    for (const text of ['asks', 'home', 'inst_', `${id}x`, id.toUpperCase(), "'", '%25', '~'])
      assert.equal((await read(text, tokens.home)).status, 404, text)
  })

  it('is a 404 after it is uninstalled', async () => {
    const id = ids['other in home']
    await annex.api('DELETE', `/v1/integrations/other/installations/${id}`)
    assert.equal((await read(id, tokens.home)).status, 404)
  })

  it('is in the list of its integration, for callers of its organization', async () => {
    const list = async (query: string, token?: string) => {
      const { json } = await annex.api('GET', `/v1/installations?${query}`, undefined, token)
      return json.items.map(({ id }: { id: string }) => id)
    }
    const [home, acme] = [ids['asks in home'], ids['asks in acme']]
    assert.deepEqual(await list('integration=asks'), [home, acme])
    assert.deepEqual(await list('integration=asks&organization=acme'), [acme])
    assert.deepEqual(await list('integration=asks', tokens.home), [home])
    for (const name of ['nope', '', '%25', 'ask_', 'asks%20'])
      assert.deepEqual(await list(`integration=${name}`), [], name)
  })
})
