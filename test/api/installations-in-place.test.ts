// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex } from '../support/annex.ts'

describe('the installations in a site or space', () => {
  let annex: Annex
  let own: Record<'site' | 'space' | 'account', string>
  before(async () => {
    annex = await startAnnex({ plugins: { one: {}, two: {}, three: {} } })
    own = {
      site: (await installSample(annex, 'one', 'site')).id,
      space: (await installSample(annex, 'two', 'space')).id,
      account: (await installSample(annex, 'three')).id,
    }
  })
  after(() => annex.close())

  const ids = async (query: string): Promise<string[]> =>
    (await annex.api('GET', `/v1/installations?${query}`)).json.items.map(({ id }: Json) => id)

  it('are found by its id', async () => {
    const { site, space } = annex.server.samples
    assert.deepEqual(await ids(`site=${site}`), [own.site])
    assert.deepEqual(await ids(`space=${space}`), [own.space])
    assert.deepEqual(await ids(`organization=home&site=${site}`), [own.site])
    assert.deepEqual(await ids(`site=${site}&space=${space}`), [], 'in both')
    assert.deepEqual(await ids(`integration=two&site=${site}`), [])
    assert.deepEqual(await ids('site=site_nowhere'), [])
    assert.deepEqual(new Set(await ids('')), new Set(Object.values(own)))
  })

  it('are those of the caller', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const { token } = (await annex.api('POST', '/v1/orgs/other/tokens', { role: 'admin' })).json
    const { site } = annex.server.samples
    const theirs = await request(annex.url, 'GET', `/v1/installations?site=${site}`, undefined, token)
    assert.deepEqual(theirs.json.items, [])
  })

  it('are without those that are being uninstalled there', async () => {
    const { site } = annex.server.samples
    const path = `/v1/integrations/one/installations/${own.site}/sites/${site}`
    assert.ok((await annex.api('DELETE', path)).status < 300)
    assert.deepEqual(await ids(`site=${site}`), [])
  })
})
