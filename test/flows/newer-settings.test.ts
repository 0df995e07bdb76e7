import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'

/** Replaces its settings, after a request that lasts until the test lets it go on. */
const script = (gate: string) => `
import { createIntegration } from '@annex/runtime'
const edit = async (way, { api, environment }) => {
  const { integration: { name }, installation, siteInstallation, apiEndpoint, apiTokens } = environment
  const at = siteInstallation ?? installation
  const update = (configuration) => siteInstallation
    ? api.integrations.updateIntegrationSiteInstallation(name, installation.id, siteInstallation.site, { configuration })
    : api.integrations.updateIntegrationInstallation(name, installation.id, { configuration })
  if (way === 'plain') {
    const headers = { authorization: 'Bearer ' + apiTokens.installation, 'content-type': 'application/json' }
    const path = '/v1/integrations/' + name + '/installations/' + installation.id
    return fetch(apiEndpoint + path, { method: 'PATCH', headers, body: JSON.stringify({ configuration: at.configuration }) })
  }
  if (way === 'read') await api.integrations.getIntegrationInstallationById(name, installation.id)
  if (way === 'twice') await update({ ...at.configuration, team: 'first' })
  return update({ ...at.configuration, counted: 1 })
}
export default createIntegration({ fetch: async (request, context) => {
  const way = new URL(request.url).searchParams.get('way')
  context.environment
  await fetch('${gate}')
  return edit(way, context).then(({ status }) => new Response(status), ({ status, errorCode }) => new Response(status + ' ' + errorCode))
} })`

const property = 'team: { type: string, title: Team, description: The team. }'
const settings = `configurations:
  account:
    properties:
      ${property}
  site:
    properties:
      ${property}`

describe('settings that a person edits while a script runs', () => {
  let annex: Annex
  let base: string
  let siteEndpoint: string
  const held: ServerResponse[] = []
  let onHeld = () => {}
  const gate = createServer((_request, response) => {
    held.push(response)
    onHeld()
  })
  before(async () => {
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
    const { port } = gate.address() as { port: number }
    const source = { script: script(`http://127.0.0.1:${port}`), more: settings }
    annex = await startAnnex({ plugins: { editor: source } })
    const { id, endpoint } = await installSample(annex, 'editor', 'site')
    siteEndpoint = endpoint
    base = `/v1/integrations/editor/installations/${id}`
  })
  after(async () => {
    gate.close()
    await annex.close()
  })

  const set = (value: string, path = base) => annex.api('PUT', `${path}/configuration/team`, { value })
  const stored = async (path = base): Promise<Json> => (await annex.api('GET', path)).json.configuration

  /** Sends a request to the script, edits as a person while it runs, and lets it go on. */
  async function editDuring(way: string, edit: () => Promise<unknown>, endpoint = ''): Promise<string> {
    const hasBegun = new Promise<void>((resolve) => {
      onHeld = resolve
    })
    const url = endpoint || siteEndpoint.replace(/\/sites\/.*/, '')
    const answer = fetch(`${url}?way=${way}`)
    await hasBegun
    await edit()
    for (const response of held.splice(0)) response.end()
    return (await answer).text()
  }

  it('stay: the script’s older settings are refused with 412', async () => {
    await set('old')
    assert.equal(await editDuring('client', () => set('new')), '412 precondition_failed')
    assert.deepEqual(await stored(), { team: 'new' })
  })

  it('stay at a site, too', async () => {
    const { pathname } = new URL(siteEndpoint)
    const path = base + pathname.slice(pathname.indexOf('/sites/'))
    await set('old', path)
    assert.equal(await editDuring('client', () => set('new', path), siteEndpoint), '412 precondition_failed')
    assert.deepEqual(await stored(path), { team: 'new' })
  })

  it('are replaced by a script that read them first, or that sends a plain PATCH', async () => {
    for (const way of ['read', 'plain']) {
      await set('old')
      assert.equal(await editDuring(way, () => set('new')), '200', way)
      assert.deepEqual(await stored(), { team: 'old' }, way)
    }
  })

  it('do not stop repeated edits by a script while no person edits', async () => {
    await set('old')
    assert.equal(await editDuring('client', async () => {}), '200')
    assert.equal(await editDuring('twice', async () => {}), '200')
    assert.deepEqual(await stored(), { team: 'old' })
  })
})
