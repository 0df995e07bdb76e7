import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

const token = 'xoxb-access-0123456789'
const refreshToken = 'xoxr-refresh-0123456789'

/** Stores credentials as an OAuth handler does. Its setup handler fails after that, so that the job stays. */
const script = `
import { createIntegration } from '@annex/runtime'
const credentials = { access_token: '${token}', refresh_token: '${refreshToken}' }
export default createIntegration({
  fetch: async (request, { environment, api }) => {
    const { integration, installation, siteInstallation } = environment
    const { integrations } = api
    const configuration = { region: 'eu', connection: credentials, oauth_credentials: credentials }
    const own = [integration.name, installation.id]
    if (request.url.endsWith('/read')) {
      return Response.json((await integrations.getIntegrationInstallationById(...own)).data)
    }
    if (siteInstallation) {
      await integrations.updateIntegrationSiteInstallation(...own, siteInstallation.site, { configuration })
    } else await integrations.updateIntegrationInstallation(...own, { configuration })
    return new Response('stored')
  },
  events: { installation_setup: (event) => { if (event.previous?.status === 'active') throw new Error('not yet') } },
})`

const level = `
    properties:
      region: { type: string, title: Region, description: Where, default: us }
      connection: { type: button, title: Connection, description: Go, button_text: Go, callback_url: /oauth }
      spare: { type: button, title: Spare, description: Go, button_text: Go, callback_url: /spare }`
const more = `
configurations:
  account:${level}
  site:${level}`

describe('the credentials of a connection', () => {
  let annex: Annex
  let organizationToken: string
  let path: string
  let id: string
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { connected: { script, more } } })
    const { organization, site } = annex.server.samples
    organizationToken = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json.token
    const installed = await annex.api('POST', '/v1/integrations/connected/installations', {
      organization,
      ...(await agreementTo(annex, 'connected')),
    })
    id = installed.json.id
    path = `/v1/integrations/connected/installations/${id}`
    await annex.api('PATCH', path, { configuration: { region: 'us' } })
    const inSite = await annex.api('POST', `${path}/sites`, { site })
    for (const { urls } of [installed.json, inSite.json]) {
      assert.equal(await (await fetch(urls.publicEndpoint)).text(), 'stored')
    }
  })
  after(() => annex.close())

  const assertHidden = (text: string, where: string) => {
    for (const secret of [token, refreshToken]) assert.ok(!text.includes(secret), `${where} shows ${secret}`)
  }

  it('are hidden from people, who see whether a button is connected', async () => {
    const { site } = annex.server.samples
    for (const by of [organizationToken, undefined]) {
      const answers = {
        one: await annex.api('GET', path, undefined, by),
        site: await annex.api('GET', `${path}/sites/${site}`, undefined, by),
        edited: await annex.api('PATCH', path, { configuration: { region: 'eu' } }, by),
      }
      for (const [where, { status, text, json }] of Object.entries(answers)) {
        assert.equal(status, 200, where)
        assertHidden(text, where)
        assert.deepEqual(json.configuration, { region: 'eu' }, where)
        assert.equal(json.connections.connection.state, 'connected', where)
        assert.deepEqual(json.connections.spare, { state: 'none' }, where)
      }
      const lists = [path.replace(`/${id}`, ''), '/v1/installations?organization=home', `${path}/sites`]
      for (const list of lists) {
        const { json, text } = await annex.api('GET', list, undefined, by)
        assert.equal(json.count, 1, list)
        assertHidden(text, list)
      }
    }
  })

  it('are hidden in jobs, also in the earlier settings of a setup event', async () => {
    await annex.api('PATCH', path, { configuration: { region: 'asia' } }, organizationToken)
    const ask = (path: string) => annex.api('GET', path, undefined, organizationToken)
    // The jobs of earlier edits may be there, too.
    const jobs = await until(
      async () => {
        const lists = await Promise.all([ask('/v1/jobs?state=due'), ask('/v1/jobs')])
        return Promise.all(
          lists.flatMap(({ json }) => json.items).map(({ id: job }) => ask(`/v1/jobs/${job}`)),
        )
      },
      (found) => found.some(({ json }) => json.payload?.previous?.configuration.region === 'eu'),
    )
    for (const { json, text } of jobs) {
      assert.equal(json.payload.type, 'installation_setup')
      assertHidden(text, 'the job')
    }
  })

  it('stay readable for their script, in its environment and over the API', async () => {
    const read: Json = await (await fetch(`${annex.url}/x/connected/${id}/read`)).json()
    assert.equal(read.configuration.oauth_credentials.access_token, token)
    assert.equal(read.configuration.connection.refresh_token, refreshToken)
  })

  it('are cached nowhere: each API answer has Cache-Control no-store', async () => {
    for (const asked of [path, '/v1/orgs', '/v1/nothing']) {
      const { headers } = await annex.api('GET', asked, undefined, organizationToken)
      assert.equal(headers.get('cache-control'), 'no-store', asked)
    }
  })
})
