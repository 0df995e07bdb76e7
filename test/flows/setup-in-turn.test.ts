import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Json, startAnnex, until } from '../support/annex.ts'

const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }

it('a site stays pending until its installation is active, and then gets its waiting events', async () => {
  let isOpen = false
  const gate = createServer((_request, response) => response.writeHead(isOpen ? 200 : 503).end())
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const url = JSON.stringify(`http://127.0.0.1:${(gate.address() as AddressInfo).port}`)
  const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: {
  installation_setup: async () => { if (!(await fetch(${url})).ok) throw new Error('not yet') },
  site_installation_setup: async (_event, { environment }) => console.log('site ' + environment.siteInstallation.status),
  site_view: async (event, { environment }) => console.log('view ' + event.eventId + ' ' + environment.siteInstallation.status),
} })`
  const annex = await startAnnex({
    plugins: { turns: { script, scopes: ['site:views:read'] } },
    flags: { DELIVERY_RETRY_SECONDS: Array(20).fill('0.5').join(',') },
  })
  try {
    const { organization, site } = annex.server.samples
    const base = '/v1/integrations/turns/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'turns')) })
    const path = `${base}/${json.id}`
    await annex.api('POST', `${path}/sites`, { site })
    const logged = async (): Promise<string[]> =>
      (await annex.api('GET', `/v1/logs?installation=${json.id}`)).json.items.map(({ text }: Json) => text)
    await until(logged, (texts) => texts.some((text) => text.startsWith('site ')))
    const statuses = async () => [
      (await annex.api('GET', path)).json.status,
      (await annex.api('GET', `${path}/sites/${site}`)).json.status,
      (await annex.api('GET', `${path}/sites`)).json.items[0].status,
    ]
    assert.deepEqual(await statuses(), ['pending', 'pending', 'pending'])
    // The site's own setup is stored with its outcome, a moment after its log line.
    const event = { type: 'site_view', siteId: site, visitor, url: 'http://a.example/' }
    const published = await until(
      () => annex.api('POST', `/v1/events?organization=${organization}`, event),
      ({ json: receipt }) => receipt.installations === 1,
    )
    assert.deepEqual(published.json.skipped ?? [], [])
    assert.deepEqual(
      (await logged()).filter((text) => text.startsWith('view')),
      [],
    )
    isOpen = true
    const views = await until(logged, (texts) => texts.some((text) => text.startsWith('view')))
    assert.ok(views.includes(`view ${published.json.eventId} active`), views.join('\n'))
    assert.deepEqual(await statuses(), ['active', 'active', 'active'])
    assert.equal((await annex.api('GET', `/v1/jobs?installation=${json.id}`)).json.count, 0)
  } finally {
    await annex.close()
    gate.close().closeAllConnections()
  }
})
