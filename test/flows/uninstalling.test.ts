// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createCheck } from '../../schemas/create-check.ts'
import { eventSchemas } from '../../schemas/events.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const leaving = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: () => new Response('here'),
  events: {
    installation_deleted: async (event, { api, environment }) => {
      const { id } = environment.installation
      const seen = await api.integrations.getIntegrationInstallationById(environment.integration.name, id)
      console.log('last ' + JSON.stringify({ previous: event.previous, seen: seen.data.configuration }))
    },
    site_installation_deleted: (event) => console.log('site ' + event.siteId + ' ' + JSON.stringify(event.previous)),
  },
})`

const telling = `
import { createIntegration } from '@annex/runtime'
const tell = (event) => console.log('event ' + JSON.stringify(event))
export default createIntegration({ events: {
  installation_deleted: tell, space_installation_deleted: tell, site_installation_deleted: tell,
} })`

const failing = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { installation_deleted: () => { throw new Error('cannot clean up') } } })`

const sending = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  events: {
    site_view: async (event, { integration, environment }) => {
      await integration.queueDelivery({ url: environment.siteInstallation.configuration.url, event })
    },
  },
})`

const settings = `configurations:
  account:
    properties:
      team: { type: string, title: Team, description: The team. }`

const address = `configurations:
  site:
    properties:
      url: { type: string, title: URL, description: The receiver. }`

const view = {
  url: 'https://docs.example/',
  referrer: 'https://search.example/',
  visitor: { anonymousId: 'v', userAgent: 'a', ip: '192.0.2.1', cookies: {} },
}

describe('uninstalling', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      plugins: {
        leaving: { script: leaving, more: settings },
        telling: { script: telling, more: 'target: all' },
        failing: { script: failing },
        sending: { script: sending, scopes: ['site:views:read'], more: address },
        bare: {},
      },
      flags: { DELIVERY_RETRY_SECONDS: '3600' },
    })
  })
  after(() => annex.close())

  const logOf = async (id: string): Promise<string[]> =>
    (await annex.api('GET', `/v1/logs?installation=${id}`)).json.items.map(({ text }: Json) => text)
  it('gives the script its last event, with a working token and the earlier settings', async () => {
    const { id, path, endpoint } = await installSample(annex, 'leaving')
    await annex.api('PUT', `${path}/configuration/team`, { value: 'blue' })
    assert.equal((await annex.api('DELETE', path)).status, 204)
    assert.equal((await fetch(endpoint)).status, 404)
    assert.equal((await annex.api('GET', path)).status, 404)
    assert.equal((await annex.api('DELETE', path)).status, 404)
    const texts = await until(
      () => logOf(id),
      (lines) => lines.some((text) => text.startsWith('last ')),
    )
    const last = texts.find((text) => text.startsWith('last '))
    assert.deepEqual(JSON.parse(last?.slice(5) ?? ''), {
      previous: { status: 'active', configuration: { team: 'blue' } },
      seen: { team: 'blue' },
    })
  })

  it('sends last events that fit their schemas', async () => {
    const { path, id } = await installSample(annex, 'telling')
    const { site, space } = annex.server.samples
    for (const [kind, place] of Object.entries({ site, space })) {
      assert.equal((await annex.api('POST', `${path}/${kind}s`, { [kind]: place })).status, 201)
      assert.equal((await annex.api('DELETE', `${path}/${kind}s/${place}`)).status, 204)
    }
    const told = (many: number) =>
      until(
        async () => (await logOf(id)).filter((text) => text.startsWith('event ')),
        (texts) => texts.length === many,
      )
    await told(2)
    await annex.api('DELETE', path)
    const events: Json[] = (await told(3)).map((text) => JSON.parse(text.slice(6)))
    const types = ['installation_deleted', 'site_installation_deleted', 'space_installation_deleted'] as const
    for (const type of types) {
      const event = events.find((one) => one.type === type)
      const check = createCheck(eventSchemas[type], { strict: false })()
      assert.ok(check(event), JSON.stringify([event, check.errors]))
    }
  })

  it('leaves no id, secret or settings for the next installation', async () => {
    const one = await installSample(annex, 'leaving')
    await annex.api('PUT', `${one.path}/configuration/team`, { value: 'blue' })
    await annex.api('DELETE', one.path)
    const other = await installSample(annex, 'leaving')
    assert.notEqual(other.id, one.id)
    assert.notEqual(other.secret, one.secret)
    assert.deepEqual((await annex.api('GET', other.path)).json.configuration, {})
    assert.equal((await annex.api('DELETE', other.path)).status, 204)
  })

  it('from a site sends the event of the site, and keeps the installation', async () => {
    const { id, path } = await installSample(annex, 'leaving', 'site')
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.status === 'active',
    )
    assert.equal((await annex.api('DELETE', path)).status, 204)
    assert.equal((await annex.api('GET', path)).status, 404)
    const site = annex.server.samples.site
    const previous = JSON.stringify({ status: 'active', configuration: {} })
    await until(
      () => logOf(id),
      (texts) => texts.includes(`site ${site} ${previous}`),
    )
    const base = path.slice(0, path.indexOf('/sites'))
    assert.equal((await annex.api('GET', base)).json.status, 'active')
    const again = await until(
      () => annex.api('POST', `${base}/sites`, { site }),
      ({ status }) => status === 201,
    )
    assert.equal(again.json.status, 'pending')
    await annex.api('DELETE', base)
  })

  it('ends pending deliveries, and keeps their history', async () => {
    await using receiver = Object.assign(await startReceiver(500), {
      [Symbol.asyncDispose]: () => receiver.close(),
    })
    const { id, path } = await installSample(annex, 'sending', 'site', { url: receiver.url })
    const { site } = annex.server.samples
    await until(
      () =>
        annex.api('POST', `/v1/events?organization=${annex.server.samples.organization}`, {
          type: 'site_view',
          siteId: site,
          ...view,
        }),
      ({ json }) => json.installations === 1,
    )
    await receiver.waitFor(1)
    const listed = () => annex.api('GET', `/v1/deliveries?installation=${id}`)
    await until(listed, ({ json }) => json.items[0]?.attempts === 1)
    await annex.api('DELETE', path.slice(0, path.indexOf('/sites')))
    const { json } = await until(listed, ({ json }) => json.items[0].state === 'failed')
    assert.equal(json.items[0].reason, 'uninstalled')
    assert.equal((await annex.api('GET', `/v1/deliveries/${json.items[0].id}`)).json.attemptList.length, 1)
    assert.deepEqual((await annex.api('GET', `/v1/receivers?installation=${id}`)).json.items, [])
  })

  it('succeeds when the script fails at its last event', async () => {
    const { id, path } = await installSample(annex, 'failing')
    assert.equal((await annex.api('DELETE', path)).status, 204)
    const again = await installSample(annex, 'failing')
    assert.notEqual(again.id, id)
    await annex.api('DELETE', again.path)
  })

  it('works without a script, and after the folder is gone', async () => {
    const bare = await installSample(annex, 'bare')
    assert.equal((await annex.api('DELETE', bare.path)).status, 204)
    const { id, path } = await installSample(annex, 'leaving')
    rmSync(join(annex.pluginsDir, 'leaving'), { recursive: true })
    await annex.api('POST', '/v1/reload')
    assert.equal((await annex.api('DELETE', path)).status, 204)
    const { json } = await annex.api('GET', '/v1/installations')
    assert.equal(
      json.items.some((one: Json) => one.id === id),
      false,
    )
  })
})
