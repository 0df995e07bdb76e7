import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const folders = fileURLToPath(new URL('../fixtures/platform-scripts', import.meta.url))

/** The world outside: an OAuth provider with an account list, and a channel for messages. */
async function startProvider() {
  const messages: Json[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    response.setHeader('content-type', 'application/json')
    const { authorization = '' } = request.headers
    if (request.url === '/channel') messages.push(JSON.parse(body))
    if (request.url === '/token' && new URLSearchParams(body).get('code') !== 'good') {
      return response.writeHead(400).end('{"error":"invalid_grant"}')
    }
    if (request.url === '/token') {
      return response.end('{"access_token":"of-the-ledger","expires_in":3600,"name":"Ada"}')
    }
    response.end(JSON.stringify({ accounts: authorization }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    close: () => server.close(),
  }
}

describe('a script of the other platform runs as it is:', () => {
  let annex: Annex
  let provider: Awaited<ReturnType<typeof startProvider>>
  let pluginsDir: string
  before(async () => {
    provider = await startProvider()
    const secrets = {
      LEDGER_PROVIDER: provider.url,
      LEDGER_CLIENT_ID: 'id',
      LEDGER_CLIENT_SECRET: 'a-long-secret',
    }
    Object.assign(process.env, secrets)
    // Annex writes the types of settings into a plugin folder.
    pluginsDir = mkdtempSync(join(tmpdir(), 'annex-platform-scripts-'))
    cpSync(folders, pluginsDir, { recursive: true })
    annex = await startAnnex({ pluginsDir })
    const failed = annex.server.plugins.filter(({ state }) => state !== 'loaded')
    assert.deepEqual(failed, [])
  })
  after(async () => {
    await annex.close()
    provider.close()
    rmSync(pluginsDir, { recursive: true })
  })

  const api = async (method: string, path: string, body?: object): Promise<Json> => {
    const answer = await annex.api(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer.json
  }
  /** Installs in the organization, without waiting: some have no settings yet. */
  const install = async (name: string) => {
    const { organization } = annex.server.samples
    const { id, urls } = await api('POST', `/v1/integrations/${name}/installations`, {
      organization,
      ...(await agreementTo(annex, name)),
    })
    return { id, path: `/v1/integrations/${name}/installations/${id}`, endpoint: urls.publicEndpoint }
  }
  const logged = (id: string, line: RegExp) =>
    until(
      async () => (await api('GET', `/v1/logs?installation=${id}`)).items.map(({ text }: Json) => text),
      (lines) => lines.some((one: string) => line.test(one)),
    )

  it('a published script', async () => {
    const { path } = await installSample(annex, 'page-counter', 'site', { tracking_id: 'T-1' })
    const { urls } = await api('GET', path)
    const script = async () => (await fetch(urls.publishedScript)).text()
    assert.match(await script(), /sendBeacon\('https:\/\/counter\.example\/T-1', location\.pathname\)/)
    await api('PATCH', path, { configuration: { tracking_id: 'none' } })
    assert.doesNotMatch(await script(), /sendBeacon/)
  })

  it('a block that unfolds a link', async () => {
    const { path } = await installSample(annex, 'clip-block', 'space')
    const url = 'https://clips.example/watch/42'
    const pasted = await api('POST', `${path}/render`, {
      componentId: 'clip',
      context: { type: 'document', editable: true },
      action: { action: '@link.unfurl', url },
    })
    assert.deepEqual(pasted.props, { url, clip: '42' })
    const [webframe, button] = pasted.element.children
    assert.deepEqual(webframe.source, { url: 'https://clips.example/embed/42' })
    const { props, state } = pasted
    const unmuted = await annex.api('POST', `${path}/render`, {
      ...{ componentId: 'clip', props, state },
      action: button.onPress,
    })
    assert.deepEqual(unmuted.json.state, { muted: false })
    assert.equal(unmuted.headers.get('cache-control'), 'max-age=86400')
    const empty = await annex.api('POST', `${path}/render`, { componentId: 'clip' })
    assert.deepEqual([empty.status, empty.json.error.message], [400, 'Paste the link of a clip'])
  })

  it('a class with a decorator and fields that its tsconfig.json assigns', async () => {
    const { path, endpoint } = await installSample(annex, 'shelf-sync', 'space')
    const [space] = (await api('GET', path.replace(/\/spaces\/.*/, ''))).spaces
    assert.deepEqual(await (await fetch(endpoint)).json(), {
      ...{ names: 'first,second', books: 2, place: 'top', calls: ['add', 'add'] },
      ...{ userAgent: 'integration-shelf-sync/1', spaces: [space], same: true },
    })
  })

  it('a block with all elements, and one that unfolds a link', async () => {
    const { path } = await installSample(annex, 'poll-card', 'space')
    const url = 'https://polls.example/lunch'
    const pasted = await api('POST', `${path}/render`, {
      componentId: 'poll',
      action: { action: '@link.unfurl', url },
    })
    assert.deepEqual(pasted.props, { url, question: 'lunch' })
    assert.deepEqual(pasted.element.children[0].title, 'lunch')
    const settings = await api('POST', `${path}/render`, { componentId: 'settings' })
    assert.equal(settings.element.children[0].children[0].type, 'step')
  })

  it('an OAuth connection that states the types of its provider', async () => {
    const { endpoint } = await install('billing-link')
    const answer: Json = await (await fetch(endpoint)).json()
    assert.deepEqual(answer, { currency: 'USD', client: 'integration-billing-link/1' })
    const began = await fetch(`${endpoint}/oauth`, { redirect: 'manual' })
    assert.match(began.headers.get('location') ?? '', /^https:\/\/billing\.example\/authorize\?/)
  })

  it('a component that asks for the settings', async () => {
    const { path, endpoint, id } = await installSample(annex, 'greeting-settings', 'site')
    const pending = await api('GET', path)
    assert.equal(pending.status, 'pending')
    assert.match(
      pending.statusReason,
      /component "config", which has stored none yet: npx annex render inst_\S+ config --site site_/,
    )
    const shown = await api('POST', `${path}/render`, { componentId: 'config' })
    assert.deepEqual([shown.state, shown.props], [{ greeting: '' }, {}])
    const [, save] = shown.element.children
    const press = (greeting: string) =>
      api('POST', `${path}/render`, { componentId: 'config', state: { greeting }, action: save.onPress })
    assert.deepEqual(await press('Good day'), { type: 'complete' })
    assert.equal(await (await fetch(endpoint)).text(), 'Good day')
    const active = await api('GET', path)
    assert.deepEqual([active.status, active.statusReason], ['active', undefined])
    const again = await annex.api('POST', `${path}/render`, { componentId: 'config' })
    assert.deepEqual(again.json.state, { greeting: 'Good day' })
    assert.doesNotMatch(again.text, /k-1/)
    await logged(id, /^setup undefined Good day$/)
    // An action that stores nothing new is no edit.
    await press('Good day')
    await press('Good night')
    await logged(id, /^setup Good day Good night$/)
    const { items } = await api('GET', `/v1/logs?installation=${id}`)
    const setups = items.map(({ text }: Json) => text).filter((line: string) => line.startsWith('setup '))
    assert.deepEqual(setups, [
      'setup undefined undefined',
      'setup undefined Good day',
      'setup Good day Good night',
    ])
  })

  it('a connection over OAuth', async () => {
    const { endpoint, path } = await install('ledger-connection')
    const started = await fetch(`${endpoint}/oauth`, { redirect: 'manual' })
    const there = new URL(started.headers.get('location') ?? '')
    assert.equal(there.origin, provider.url)
    const back = new URL(there.searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', 'good')
    back.searchParams.set('state', there.searchParams.get('state') ?? '')
    const cookie = started.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    assert.equal((await fetch(back, { headers: { cookie } })).status, 200)
    assert.equal((await api('GET', path)).status, 'active')
    assert.deepEqual(await (await fetch(endpoint)).json(), { accounts: 'Bearer of-the-ledger' })
  })

  it('the sign-in of visitors', async () => {
    const { site, organization } = annex.server.samples
    const origins = ['https://docs.example']
    await api('PUT', `/v1/orgs/${organization}/sites/${site}/script`, { origins })
    const settings = { issuer: provider.url, client_id: 'door' }
    const { path, secret } = await installSample(annex, 'door-keeper', 'site', settings)
    const { urls } = await api('GET', path)
    const sent = await fetch(`${urls.visitorAuthentication}?location=guides`, { redirect: 'manual' })
    const there = new URL(sent.headers.get('location') ?? '')
    assert.equal(there.searchParams.get('state'), 'guides')
    const back = new URL(there.searchParams.get('redirect_uri') ?? '')
    const answer = (code: string) => {
      back.search = `${new URLSearchParams({ code, state: 'guides' })}`
      return fetch(back, { redirect: 'manual' })
    }
    const signedIn = new URL((await answer('good')).headers.get('location') ?? '')
    assert.equal(signedIn.origin + signedIn.pathname, 'https://docs.example/guides')
    const [head, claims = '', signature] = (signedIn.searchParams.get('jwt_token') ?? '').split('.')
    assert.equal(JSON.parse(atob(claims)).name, 'Ada')
    assert.equal(createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url'), signature)
    assert.equal((await answer('bad')).status, 401)
  })

  it('an event of a space that becomes a message', async () => {
    const { id, path } = await install('change-bell')
    const { space } = annex.server.samples
    await api('POST', `${path}/spaces`, { space })
    const pending = await until(
      () => api('GET', path),
      ({ statusReason }) => statusReason !== undefined,
    )
    assert.deepEqual([pending.status, pending.problems[0].path], ['pending', '/configuration/channel_url'])
    await api('PATCH', path, { configuration: { channel_url: `${provider.url}/channel` } })
    await logged(id, /rings at 127\.0\.0\.1/)
    await until(
      () => api('GET', `${path}/spaces/${space}`),
      ({ status }) => status === 'active',
    )
    const { revision } = await api('GET', `/v1/spaces/${space}`)
    const event = { type: 'space_content_updated', eventId: 'evt_bell', spaceId: space, revisionId: revision }
    await api('POST', `/v1/events?organization=${annex.server.samples.organization}`, event)
    const [message] = await until(
      async () => provider.messages,
      ({ length }) => length === 1,
    )
    assert.match(message.text, /^.+ has \d+ pages$/)
    assert.equal(message.id, 'evt_bell')
  })

  it('a webhook of a shop, with its signature checked', async () => {
    const { id, path, endpoint } = await install('order-hook')
    await api('PATCH', path, { configuration: { signing_key: 'key-of-the-shop' } })
    const send = (body: string, key: string, method = 'POST') => {
      const t = '1700000000'
      const v1 = createHmac('sha256', key).update(`${t}.${body}`).digest('hex')
      const headers = { 'x-shop-signature': `t=${t},v1=${v1}` }
      return fetch(endpoint, { method, headers, ...(method === 'POST' && { body }) })
    }
    const taken = await send('{"order":7}', 'key-of-the-shop')
    assert.deepEqual([taken.status, await taken.json()], [200, { received: true }])
    await logged(id, /order 7/)
    const forged = await send('{"order":8}', 'another-key')
    assert.deepEqual([forged.status, await forged.json()], [401, { error: 'Invalid signature' }])
    assert.equal((await send('', 'key-of-the-shop', 'GET')).status, 405)
  })

  it('a search by external id', async () => {
    const { endpoint, id } = await installSample(annex, 'team-mail')
    const post = (url: string, body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) })
    assert.equal(await (await post(endpoint, { register: true, team: 'T42' })).text(), 'registered')
    const ofIntegration = `${annex.url}/x/team-mail`
    const found = await (await post(ofIntegration, { team: 'T42' })).json()
    assert.deepEqual(found, { id, externalIds: ['T42'], count: 1 })
    assert.equal((await post(ofIntegration, { team: 'T43' })).status, 404)
  })

  it('a task', async () => {
    const { endpoint, id } = await installSample(annex, 'reminder')
    assert.equal((await fetch(endpoint, { method: 'POST', body: 'the milk' })).status, 202)
    await logged(id, /remember the milk/)
  })

  it('a content source', async () => {
    const { path } = await installSample(annex, 'menu-pages', 'space')
    const revision = await api('POST', `${path}/content-sources/menu/revision`, {
      props: { courses: 'soup,pie' },
      dependencies: { note: { value: 'fresh' } },
    })
    assert.deepEqual(
      revision.pages.map(({ title, description }: Json) => [title, description]),
      [
        ['soup', 'fresh'],
        ['pie', 'fresh'],
      ],
    )
    const { props } = revision.pages[1].computed
    const { document } = await api('POST', `${path}/content-sources/menu/document`, { props })
    assert.equal(document.nodes[0].nodes[0].leaves[0].text, 'pie')
  })
})
