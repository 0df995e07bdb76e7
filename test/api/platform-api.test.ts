import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Calls the API by the client or by fetch, as the last part of the path says. */
const reader = `
import { createIntegration } from '@annex/runtime'
const plain = async (path, { environment }) => {
  const response = await fetch(environment.apiEndpoint + path, {
    headers: { authorization: 'Bearer ' + environment.apiTokens.installation },
  })
  return { status: response.status, body: await response.json() }
}
export default createIntegration({
  fetch: async (request, context) => {
    const { api, environment } = context
    const url = new URL(request.url)
    const space = url.searchParams.get('space')
    switch (url.pathname.split('/').at(-1)) {
      case 'environment': return Response.json({ ...environment, apiTokens: {}, signingSecrets: {} })
      case 'tokens': return Response.json(environment.apiTokens)
      case 'plain': return Response.json(await plain('/v1/spaces/' + space + '/content', context))
      case 'client': return Response.json((await api.spaces.getCurrentRevision(space)).data)
      case 'edit': {
        const { data } = await api.integrations.updateIntegrationInstallation(environment.integration.name, environment.installation.id, {
          configuration: { credentials: 'only for the script' }, externalIds: ['ext-1'],
        })
        return Response.json(data)
      }
    }
  },
  events: {
    space_content_updated: async (event) => console.log(JSON.stringify(event)),
    installation_setup: async (event, { api, environment }) => {
      console.log('setup')
      await api.integrations.updateIntegrationInstallation(environment.integration.name, environment.installation.id, { configuration: { seen: 1 } })
    },
  },
})`

describe('the platform API', () => {
  let annex: Annex
  let endpoint: string
  let id: string
  let own: string
  let other: string
  let folder: string
  let token: string
  const json = async (path: string): Promise<Json> => (await fetch(endpoint + path)).json()

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-space-'))
    writeFileSync(join(folder, 'start.md'), '# Start here\n\nHello.\n')
    annex = await startAnnex({
      plugins: { reader: { script: reader, scopes: ['space:content:read'] }, blind: { script: reader } },
    })
    other = annex.server.samples.space
    const space = await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'own', title: 'Own', folder })
    assert.equal(space.status, 201, space.text)
    own = space.json.id
    const installed = await installSample(annex, 'reader')
    id = installed.id
    endpoint = installed.endpoint
    await annex.api('POST', `/v1/integrations/reader/installations/${id}/spaces`, { space: own })
    await until(
      () => annex.api('GET', `/v1/integrations/reader/installations/${id}/spaces/${own}`),
      ({ json }) => json.status === 'active',
    )
    token = (await json('/tokens')).installation
  })
  after(async () => {
    await annex.close()
    rmSync(folder, { recursive: true })
  })

  it('gives a script the content of a space, by context.api and by fetch', async () => {
    const revision = await json(`/client?space=${own}`)
    assert.equal(revision.object, 'revision')
    assert.deepEqual(
      revision.pages.map(({ title, path, type }: Json) => ({ title, path, type })),
      [{ title: 'Start here', path: 'start', type: 'document' }],
    )
    assert.deepEqual(await json(`/plain?space=${own}`), { status: 200, body: revision })
  })

  it('gives a script the addresses of each level, and the spaces of its installation', async () => {
    const environment = await json(`/spaces/${own}/environment`)
    const { integration, installation, spaceInstallation } = environment
    const at = (url: string) => ({ publicEndpoint: url, publicContentEndpoint: url })
    const { organization } = annex.server.samples
    const app = `${annex.url}/orgs/${organization}/installations/${installation.id}`
    assert.deepEqual(installation.urls, { app, ...at(endpoint) })
    assert.deepEqual(spaceInstallation.urls, at(`${endpoint}/spaces/${own}`))
    assert.deepEqual([spaceInstallation.integration, spaceInstallation.space], ['reader', own])
    assert.deepEqual(installation.spaces, [own])
    assert.deepEqual([installation.space_selection, installation.site_selection], ['selected', 'selected'])
    assert.deepEqual(integration.urls, {
      ...at(endpoint),
      integrationEndpoint: `${annex.url}/x/reader`,
      app: `${annex.url}/integrations/reader`,
      assets: `${annex.url}/v1/integrations/reader/assets`,
    })
  })

  it('has the addresses of a space and a site, and adaptive content of the site', async () => {
    const organization = annex.server.samples.organization
    const given = { slug: 'published', title: 'Published', url: 'https://docs.example.com/guides' }
    const { json: space } = await annex.api('POST', '/v1/orgs/home/spaces', given)
    assert.deepEqual(space.urls, {
      app: `${annex.url}/orgs/${organization}/spaces/${space.id}/`,
      published: 'https://docs.example.com/guides/',
      public: 'https://docs.example.com/guides/',
    })
    const refused = await annex.api('POST', '/v1/orgs/home/spaces', { ...given, url: 'javascript:alert(1)' })
    assert.equal(refused.status, 422)
    const moved = await annex.api('PATCH', `/v1/spaces/${space.id}`, { url: null })
    assert.deepEqual(Object.keys(moved.json.urls), ['app'])
    const { site: id } = annex.server.samples
    const { json: site } = await annex.api('GET', `/v1/orgs/home/sites/${id}`)
    assert.deepEqual(site.urls, { app: `${annex.url}/orgs/${organization}/sites/${id}/` })
    assert.deepEqual(site.adaptiveContent, { enabled: false })
  })

  it('answers 404 with the route for a method without a route', async () => {
    const { status, json: answer } = await annex.api('POST', '/v1/orgs/home/ask', {}, token)
    assert.deepEqual([status, answer.error.code], [404, 'not_found'])
    assert.equal(answer.error.message, 'Annex has no route POST /v1/orgs/home/ask.')
  })

  it('answers the same from outside with the same token', async () => {
    const { json: revision } = await annex.api('GET', `/v1/spaces/${own}/content`, undefined, token)
    const [page] = revision.pages
    const read = await annex.api('GET', `/v1/spaces/${own}/content/page/${page.id}`, undefined, token)
    assert.equal(read.json.markdown, '# Start here\n\nHello.\n')
    assert.equal(
      (await annex.api('GET', `/v1/spaces/${own}/content/page/page_0`, undefined, token)).status,
      404,
    )
  })

  it('refuses a call outside the declared scopes with a 403 that names the scope', async () => {
    const refused = await annex.api('GET', `/v1/spaces/${own}`, undefined, token)
    assert.deepEqual([refused.status, refused.json.error.code], [403, 'missing_scope'])
    assert.match(refused.json.error.message, /space:metadata:read/)
    assert.deepEqual(refused.json.error.details, [{ path: '/scopes', message: 'space:metadata:read' }])
    assert.equal(refused.json.error.docs, 'docs/errors.md#missing_scope')
    const blind = await installSample(annex, 'blind', 'space')
    const { installation }: Json = await (await fetch(`${blind.endpoint}/tokens`)).json()
    const content = await annex.api('GET', `/v1/spaces/${other}/content`, undefined, installation)
    assert.deepEqual([content.status, content.json.error.code], [403, 'missing_scope'])
    assert.match(content.json.error.message, /space:content:read/)
  })

  it('hides the missing scope for a space beyond the script’s reach', async () => {
    const outside = await annex.api('GET', `/v1/spaces/${other}`, undefined, token)
    assert.deepEqual([outside.status, outside.json.error.code], [404, 'not_found'])
    assert.doesNotMatch(outside.text, /metadata/)
  })

  it('answers 404 beyond the installation’s own places', async () => {
    for (const path of [
      `/v1/spaces/${other}/content`,
      '/v1/spaces/space_0/content',
      `/v1/integrations/blind/installations/${id}`,
      `/v1/integrations/reader/installations/inst_0`,
    ]) {
      assert.equal((await annex.api('GET', path, undefined, token)).status, 404, path)
    }
    assert.equal((await json(`/plain?space=${other}`)).status, 404)
  })

  it('lets a script PATCH its own installation, without another setup event', async () => {
    const edited = await json('/edit')
    assert.deepEqual(edited.configuration, { credentials: 'only for the script' })
    assert.deepEqual(edited.externalIds, ['ext-1'])
    const seen = await annex.api('GET', `/v1/integrations/reader/installations/${id}`)
    assert.deepEqual(
      seen.json.configuration,
      {},
      'what the script keeps for itself is not shown to installers',
    )
    const logs = await annex.api('GET', `/v1/logs?installation=${id}`)
    const setups = logs.json.items.filter(({ text }: Json) => text === 'setup')
    assert.equal(
      setups.length,
      2,
      'the handler that patches ran once for the installation, and once for its space',
    )
  })

  it('stores a revision of a changed file, and publishes an event', async () => {
    mkdirSync(join(folder, 'more'))
    writeFileSync(join(folder, 'more/second.md'), '# Second\n')
    const { json: logs } = await until(
      () => annex.api('GET', `/v1/logs?installation=${id}`),
      ({ json }) => json.items.some(({ text }: Json) => text.includes('space_content_updated')),
    )
    const event = JSON.parse(logs.items.find(({ text }: Json) => text.includes('space_content_updated')).text)
    const revision = await json(`/client?space=${own}`)
    assert.deepEqual([event.spaceId, event.revisionId, event.installationId], [own, revision.id, id])
    assert.deepEqual(revision.pages.map(({ path }: Json) => path).sort(), ['more/second', 'start'])
  })

  it('answers 401 without a token, and with a wrong or foreign one', async () => {
    const foreign = `${token.split('.').slice(0, 2).join('.')}.AAAA`
    for (const wrong of ['', 'annex_op_nothing', foreign]) {
      const refused = await annex.api('GET', `/v1/spaces/${own}/content`, undefined, wrong)
      assert.deepEqual([refused.status, refused.json.error.code], [401, 'unauthorized'])
    }
  })

  it('shows the log of an integration as a whole to its owner only', async () => {
    assert.equal((await fetch(`${annex.url}/x/blind/nothing`)).status, 500)
    const acme = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json.id
    const linesFor = async (organization: string): Promise<Json[]> => {
      const { token } = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json
      return (await annex.api('GET', '/v1/logs?integration=blind', undefined, token)).json.items
    }
    const own = await linesFor(annex.server.samples.organization)
    assert.ok(own.some(({ installation, level }) => installation === undefined && level === 'error'))
    assert.deepEqual(await linesFor(acme), [])
  })

  it('refuses scripts on routes for people', async () => {
    for (const [method, path] of [
      ['POST', '/v1/events'],
      ['GET', '/v1/deliveries'],
      ['GET', '/v1/logs'],
      ['POST', '/v1/reload'],
      ['POST', `/v1/integrations/reader/installations/${id}/pause`],
      ['GET', '/v1/installations'],
    ] as const) {
      assert.equal(
        (await annex.api(method, path, method === 'POST' ? {} : undefined, token)).status,
        403,
        path,
      )
    }
  })
})
