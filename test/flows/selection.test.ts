import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.installation),
  events: { space_installation_setup: (event) => console.log('set up in ' + event.spaceId) },
})`

describe('an installation in all spaces', () => {
  let annex: Annex
  let endpoint: string
  let path: string
  let onSites: string
  before(async () => {
    annex = await startAnnex({ plugins: { search: { script }, sites: { script, more: 'target: site' } } })
    const installed = await installSample(annex, 'search')
    endpoint = installed.endpoint
    path = installed.path
    onSites = (await installSample(annex, 'sites')).path
  })
  after(() => annex.close())

  const select = (selections: object, at = path) => annex.api('PUT', `${at}/selection`, selections)
  const spaces = async () =>
    (await annex.api('GET', `${path}/spaces`)).json.items.map(({ space }: { space: string }) => space)
  const makeSpace = async (slug: string): Promise<string> =>
    (await annex.api('POST', '/v1/orgs/home/spaces', { slug, title: slug })).json.id

  it('is in each present space, and in each new one', async () => {
    const before = await makeSpace('before')
    assert.deepEqual(await spaces(), [])
    const { status, json } = await select({ spaces: 'all' })
    assert.deepEqual([status, json.space_selection, json.site_selection], [200, 'all', 'selected'])
    assert.deepEqual(new Set(await spaces()), new Set([annex.server.samples.space, before]))
    const later = await makeSpace('later')
    assert.ok((await spaces()).includes(later))
    await until(
      () => annex.api('GET', '/v1/logs?integration=search'),
      ({ text }) => text.includes(`set up in ${before}`) && text.includes(`set up in ${later}`),
    )
    const environment: Json = await (await fetch(endpoint)).json()
    assert.deepEqual([environment.space_selection, environment.spaces.length], ['all', 3])
    assert.deepEqual((await annex.api('GET', `${path}/sites`)).json.items, [])
    assert.deepEqual((await annex.api('GET', path)).json.spaces, environment.spaces)
    for (const list of [path.replace(/\/[^/]+$/, ''), '/v1/installations']) {
      const { items } = (await annex.api('GET', list)).json
      assert.deepEqual(items.find(({ id }: Json) => path.endsWith(id)).spaces, environment.spaces, list)
    }
  })

  it('is in no deleted space, and does not add spaces to another installation', async () => {
    const gone = await makeSpace('gone')
    assert.ok((await annex.api('GET', path)).json.spaces.includes(gone))
    assert.equal((await annex.api('DELETE', `${path}/spaces/${gone}`)).status, 204)
    const { items } = (await annex.api('GET', '/v1/installations')).json
    const spacesOf = (at: string) => items.find(({ id }: Json) => at.endsWith(id)).spaces
    assert.deepEqual(spacesOf(path), (await annex.api('GET', path)).json.spaces)
    assert.ok(!spacesOf(path).includes(gone))
    assert.deepEqual([spacesOf(onSites), (await annex.api('GET', onSites)).json.spaces], [[], []])
  })

  it('keeps its spaces when people go back to a selection', async () => {
    assert.equal((await select({ spaces: 'selected' })).json.space_selection, 'selected')
    await makeSpace('alone')
    assert.equal((await spaces()).length, 3)
  })

  it('is refused for a wrong manifest, and for a body without a selection', async () => {
    assert.equal((await select({ spaces: 'all' }, onSites)).status, 409)
    assert.equal((await annex.api('GET', onSites)).json.space_selection, 'selected')
    assert.equal((await select({ sites: 'all' }, onSites)).status, 200)
    for (const wrong of [{}, { spaces: 'some' }, { pages: 'all' }]) {
      assert.equal((await select(wrong)).status, 422)
    }
  })
})
