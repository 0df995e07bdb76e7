// tier: wall (several hosts under load)
// databases: PostgreSQL

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Annex, installSample, request, startAnnex, until } from '../support/annex.ts'
import { startAnnexProcess } from '../support/annex-process.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'
import { createTestDatabase, noPostgres, type TestDatabase } from '../support/test-database.ts'

const answering = (text: string): PluginSource => ({
  script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: (request, { environment }) =>
  new Response(${JSON.stringify(text)} + ' ' + environment.installation?.id) })`,
})

/** A flow that is written by hand. */
const connecting: PluginSource = {
  more: `
configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }`,
  script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: (request, { environment }) => {
  const { searchParams } = new URL(request.url)
  if (searchParams.has('code')) return new Response(searchParams.get('code') + ' ' + searchParams.get('state'))
  const redirect = encodeURIComponent(environment.integration.urls.integrationEndpoint + '/oauth')
  return Response.redirect('https://provider.example/?client_id=a&state=of%20the%20script&redirect_uri=' + redirect)
} })`,
}

const visitor = {
  visitor: { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
  url: 'https://docs.example/',
  referrer: 'https://docs.example/',
}

describe('hosts on one PostgreSQL', { skip: noPostgres }, () => {
  let made: TestDatabase
  let running: Annex[]
  const secretKey = randomBytes(32).toString('base64')
  beforeEach(async () => {
    made = await createTestDatabase()
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map(({ close }) => close()))
    await made.drop()
  })

  const start = async (plugins: Record<string, PluginSource>, flags: Record<string, string> = {}) => {
    const annex = await startAnnex({
      plugins,
      flags: { DATABASE_URL: made.url, SECRET_KEY: secretKey, ...flags },
    })
    running.push(annex)
    return annex
  }
  const at = ({ url }: Annex, endpoint: string) => request(url, 'GET', new URL(endpoint).pathname)
  const digestOf = async (annex: Annex) => (await request(annex.url, 'GET', '/readyz')).json.versions.digest

  it('start at once on an empty database, with the same organization and samples', async () => {
    const hosts = await Promise.all([1, 2, 3].map(() => start({ hello: answering('first') })))
    const [first, ...others] = hosts.map(({ server }) => server)
    assert.ok(first?.samples.site)
    for (const { samples, plugins } of others) {
      assert.deepEqual(samples, first.samples)
      assert.deepEqual(plugins[0]?.version, first.plugins[0]?.version)
    }
  })

  it('answer for each other’s installations with the last deployed version', async () => {
    const one = await start({ hello: answering('first') })
    // The other host has no folder of the integration, which stays deployed.
    const other = await start({})
    const { id, endpoint } = await installSample(one, 'hello')
    assert.equal((await at(other, endpoint)).text, `first ${id}`)
    assert.equal((await at(one, endpoint)).text, `first ${id}`)
    assert.equal(await digestOf(other), await digestOf(one))

    writePlugin(one.pluginsDir, 'hello', answering('second'))
    await one.api('POST', '/v1/reload')
    await until(
      () => at(other, endpoint),
      ({ text }) => text === `second ${id}`,
    )
    assert.equal(await digestOf(other), await digestOf(one))

    await other.api('POST', `/v1/integrations/hello/installations/${id}/pause`)
    await until(
      () => at(one, endpoint),
      ({ status }) => status === 503,
    )
  })

  it('continue an OAuth flow that began on another host', async () => {
    const publicUrl = 'http://annex.example'
    const flags = { PUBLIC_URL: publicUrl }
    const one = await start({ tracker: connecting }, flags)
    const other = await start({}, flags)
    const { path } = await installSample(one, 'tracker')
    const link = await one.api('POST', `${path}/configuration/account/connect`)
    const cookies: string[] = []
    /** A browser behind a proxy that asks any host. */
    const open = async (host: Annex, address: string, method = 'GET') => {
      const { pathname, search } = new URL(address)
      const headers = { cookie: cookies.join('; '), host: 'annex.example', origin: publicUrl }
      const response = await fetch(host.url + pathname + search, { method, headers, redirect: 'manual' })
      cookies.push(...response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? ''))
      return { text: await response.text(), location: response.headers.get('location') ?? '' }
    }
    const opened = await open(other, link.json.url, 'POST')
    const started = await open(one, opened.location)
    const state = new URL(started.location).searchParams.get('state')
    const answers = await Promise.all([
      open(one, `${publicUrl}/x/tracker/oauth?code=1&state=${state}`),
      open(other, `${publicUrl}/x/tracker/oauth?code=1&state=${state}`),
    ])
    const texts = answers.map(({ text }) => (text === '1 of the script' ? text : JSON.parse(text).error.code))
    assert.deepEqual(texts.toSorted(), ['1 of the script', 'flow_refused'])
  })

  it('retire an integration when the host that deployed it has no folder for it', async () => {
    const one = await start({ hello: answering('first') })
    const other = await start({})
    const { endpoint } = await installSample(one, 'hello')
    await other.api('POST', '/v1/reload')
    assert.equal((await at(other, endpoint)).status, 200)
    rmSync(join(one.pluginsDir, 'hello'), { recursive: true })
    await one.api('POST', '/v1/reload')
    await until(
      () => at(other, endpoint),
      ({ json }) => json?.error.code === 'no_version',
    )
  })

  it('retire an integration without a folder on any host with PLUGINS_COMPLETE', async () => {
    const one = await start({ hello: answering('first') })
    const { endpoint } = await installSample(one, 'hello')
    await start({}, { PLUGINS_COMPLETE: 'true' })
    await until(
      () => at(one, endpoint),
      ({ json }) => json?.error.code === 'no_version',
    )
  })

  it('take over the running work of a killed host', async () => {
    // The first request is never answered: the handler is in the middle of it when its host is killed.
    const receiver = await startReceiver(() => {}, 200)
    const caller: PluginSource = {
      scopes: ['site:views:read'],
      script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { site_view: async (event) => {
  await fetch(${JSON.stringify(receiver.url)}, { method: 'POST', body: event.eventId })
} } })`,
    }
    const first = await start({ caller })
    const { organization, site } = first.server.samples
    const { path } = await installSample(first, 'caller', 'site')
    await until(
      () => first.api('GET', path),
      ({ json }) => json.status === 'active',
    )
    await first.close()
    running.pop()

    const folder = mkdtempSync(join(tmpdir(), 'annex-hosts-'))
    const settings = { DATABASE_URL: made.url, SECRET_KEY: secretKey }
    const killed = await startAnnexProcess(join(folder, 'data'), join(folder, 'none'), settings)
    const visit = { type: 'site_view', siteId: site, eventId: 'evt_taken_over', ...visitor }
    await request(killed.url, 'POST', `/v1/events?organization=${organization}`, visit, killed.token)
    await receiver.waitFor(1)
    await start({})
    killed.child.kill('SIGKILL')
    await killed.exited
    const received = await receiver.waitFor(2)
    assert.deepEqual(
      received.map(({ body }) => body),
      ['evt_taken_over', 'evt_taken_over'],
    )
    await receiver.close()
    rmSync(folder, { recursive: true })
  })

  it('refuse to start with a second SECRET_KEY, even without stored secrets', async () => {
    await start({})
    await assert.rejects(start({}, { SECRET_KEY: randomBytes(32).toString('base64') }), {
      code: 'settings_invalid',
      message:
        /^SECRET_KEY: the secrets in the database are encrypted with another key .* all hosts of a database have the same key\.$/,
    })
  })
})
