// cpu: 45 s (twenty large sandboxes, several times)

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

const installations = 20

/** Each sandbox keeps some 8 MB with what it has beside this. */
const script = (upstream: string) => `
import { createIntegration } from '@annex/runtime'
const kept = Array.from({ length: 300_000 }, (_none, n) => n + 0.5)
export default createIntegration({
  fetch: () => new Response(String(kept.length)),
  events: { site_view: async (event) => { await fetch('${upstream}/' + event.eventId + '?' + kept.length) } },
})`

type Installed = { site: string; organization: string; endpoint: string; path: string }

describe('one event to each of many installations of one plugin', () => {
  const handled = new Map<string, number>()
  const upstream = createServer((request, response) => {
    const id = request.url?.split(/[/?]/)[1] ?? ''
    handled.set(id, (handled.get(id) ?? 0) + 1)
    response.end()
  })
  before(() => once(upstream.listen(0, '127.0.0.1'), 'listening'))
  after(() => void upstream.close())
  const start = (flags: Record<string, string>) => {
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    const burst = { script: script(url), scopes: ['site:views:read'] }
    return startAnnex({
      sandboxes: 'processes',
      plugins: { burst },
      flags: { SANDBOX_SPARE: 'true', RATE_LIMIT_VISITOR: '0', ...flags },
    })
  }

  it('exhausts no memory, with room for a few sandboxes', async (t) => {
    const annex = await start({ SANDBOX_RESIDENT_MB: '256' })
    t.after(annex.close)
    const installed = await installMany(annex)
    const events = await publishToAll(annex, installed)
    await until(
      async () => events.filter((id) => !handled.has(id)),
      (left) => left.length === 0,
    )
    assert.deepEqual(
      events.filter((id) => handled.get(id) !== 1),
      [],
      'handled again',
    )
    assert.deepEqual(await readOutcomes(annex), ['ok'])
  })

  it('counts the wait for a turn neither against the script nor as an attempt', async (t) => {
    // All installations together take longer to load than one may take to answer.
    const annex = await start({ SANDBOX_WALL_MS: '2000', SANDBOX_RESIDENT_MB: '256' })
    t.after(annex.close)
    const installed = await installMany(annex)
    const [events, visits] = await Promise.all([
      publishToAll(annex, installed),
      Promise.all(installed.map(async ({ endpoint }) => (await fetch(endpoint)).json())),
    ])
    await until(
      async () => events.filter((id) => !handled.has(id)),
      (left) => left.length === 0,
    )
    const codes = new Set(visits.map((answer: Json) => answer.error?.code ?? answer))
    codes.delete(300_000)
    codes.delete('sandbox_busy')
    assert.deepEqual([...codes], [])
    const outcomes = new Set(await readOutcomes(annex))
    outcomes.delete('sandbox_busy')
    assert.deepEqual([...outcomes], ['ok'])
    const { json } = await annex.api('GET', '/v1/problems')
    assert.deepEqual(json.items, [])
  })
})

async function installMany({ api }: Annex): Promise<Installed[]> {
  const installed: Installed[] = []
  for (let n = 0; n < installations; n += 1) {
    const { json: organization } = await api('POST', '/v1/orgs', { subdomain: `burst-${n}`, title: 'Burst' })
    const { json: site } = await api('POST', `/v1/orgs/${organization.id}/sites`, {
      slug: 'docs',
      title: 'D',
    })
    const base = '/v1/integrations/burst/installations'
    const { json } = await api('POST', base, {
      organization: organization.id,
      ...(await agreementTo({ api }, 'burst')),
    })
    await api('POST', `${base}/${json.id}/sites`, { site: site.id })
    const { publicEndpoint: endpoint } = json.urls
    const path = `${base}/${json.id}/sites/${site.id}`
    installed.push({ organization: organization.id, site: site.id, endpoint, path })
  }
  for (const { path } of installed)
    await until(
      () => api('GET', path),
      ({ json }) => json.status === 'active',
    )
  return installed
}

function publishToAll({ api }: Annex, installed: readonly Installed[]): Promise<string[]> {
  return Promise.all(
    installed.map(async ({ organization, site }) => {
      const event = {
        ...{ type: 'site_view', siteId: site, url: 'https://docs.example.com/' },
        visitor: { anonymousId: 'a', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
      }
      const { status, json, text } = await api('POST', `/v1/events?organization=${organization}`, event)
      assert.deepEqual([status, json.installations], [202, 1], text)
      return json.eventId
    }),
  )
}

/** How the dispatches of events have ended, from the counts of /metrics. */
async function readOutcomes({ api }: Annex): Promise<string[]> {
  const { text } = await api('GET', '/metrics')
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('annex_dispatches_total{') && line.includes('type="site_view"'))
  return [...new Set(lines.map((line) => /outcome="([^"]+)"/.exec(line)?.[1] ?? line))]
}
