import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { site_view: async () => {} } })`
const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }
const scopes = ['site:views:read']
const more = `configurations: { site: { properties: { key: { type: string, title: Key, description: A key. } }, required: [key] } }`

let annex: Annex
before(async () => {
  annex = await startAnnex({
    plugins: {
      takes: { script, scopes },
      unscoped: { script },
      unset: { script, scopes, more },
      elsewhere: { script, scopes },
      unconcerned: { script },
    },
  })
})
after(() => annex?.close())

it('publishing names each installation that skips the event, with the reason', async () => {
  const ids = new Map<string, string>()
  const { site } = annex.server.samples
  for (const name of ['takes', 'unscoped', 'unset'])
    ids.set(name, (await installSample(annex, name, 'site')).id)
  for (const name of ['elsewhere', 'unconcerned']) ids.set(name, (await installSample(annex, name)).id)
  const event = { type: 'site_view', siteId: annex.server.samples.site, visitor, url: 'http://a.example/' }
  const { status, json } = await annex.api('POST', '/v1/events?organization=home', event)
  assert.equal(status, 202)
  const skipped = json.skipped.map(({ integration, reason }: Json) => [integration, reason])
  assert.deepEqual(Object.fromEntries(skipped), {
    unscoped: 'missing_scope',
    unset: 'settings_missing',
    elsewhere: 'not_installed_there',
  })
  for (const { integration, installation, message } of json.skipped) {
    assert.equal(installation, ids.get(integration))
    assert.match(message, /scope site:views:read|do not fit: key|not installed in the site site_/)
  }
  const again = await annex.api('POST', '/v1/events?organization=home', { ...event, eventId: json.eventId })
  assert.deepEqual([again.status, again.json.skipped], [200, undefined])
  const level = `/v1/integrations/unset/installations/${ids.get('unset')}/sites/${site}`
  assert.equal((await annex.api('PUT', `${level}/configuration/key`, { value: 'k' })).status, 200)
  await until(
    () => annex.api('GET', level),
    ({ json }) => json.status === 'active',
  )
  const later = await annex.api('POST', '/v1/events?organization=home', event)
  assert.equal(later.json.installations, 2)
  assert.deepEqual(
    later.json.skipped.map(({ integration }: Json) => integration).toSorted(),
    ['elsewhere', 'unscoped'],
    'one that takes the event now is named no longer',
  )
})
