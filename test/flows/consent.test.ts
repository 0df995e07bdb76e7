import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Answered, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'

const answering = (text: string, more: Partial<PluginSource> = {}): PluginSource => ({
  script: `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (_request, { environment }) =>
    new Response(${JSON.stringify(text)} + ' ' + environment.integration.scopes.join(' ')),
})`,
  more: 'egress: [api.example.com]',
  ...more,
})

const reading = (more: Partial<PluginSource> = {}): PluginSource => ({
  script: `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment: { apiEndpoint, apiTokens } }) => {
    const headers = { authorization: 'Bearer ' + (apiTokens.installation ?? apiTokens.integration) }
    const answer = await fetch(apiEndpoint + '/v1/spaces/' + new URL(request.url).search.slice(1), { headers })
    return new Response(answer.status + ' ' + (await answer.text()))
  },
})`,
  ...more,
})

describe('a version that asks for more', () => {
  let annex: Annex
  before(async () => {
    const names = ['waits', 'quiet', 'hosts', 'named', 'loaded', 'back']
    const plugins = Object.fromEntries(names.map((name) => [name, answering('one')]))
    annex = await startAnnex({
      plugins: { ...plugins, named: answering('one', { scopes: ['site:views:read'] }) },
    })
  })
  after(() => annex.close())

  const publish = async (name: string, source: PluginSource): Promise<Json> => {
    writePlugin(annex.pluginsDir, name, source)
    const { json } = await annex.api('POST', '/v1/reload')
    return json.items.find((plugin: Json) => plugin.name === name)
  }
  const read = async (endpoint: string): Promise<string> => (await fetch(endpoint)).text()
  const agreementOf = (path: string): Promise<Answered> => annex.api('GET', `${path}/agreement`)

  it('waits in an organization that has not agreed, and runs once it agrees', async () => {
    const { path, endpoint } = await installSample(annex, 'waits')
    assert.equal(await read(endpoint), 'one ')
    await publish('waits', answering('two', { scopes: ['site:views:read'] }))
    assert.equal(await read(endpoint), 'one ')
    const { json } = await agreementOf(path)
    assert.equal(json.version, 1)
    assert.deepEqual(
      [json.waiting.version, json.waiting.permissions.map(({ name }: Json) => name)],
      [2, ['site:views:read']],
    )
    assert.match(json.waiting.permissions[0].sentence, /^Read the visits of the sites/)
    const unread = await annex.api('POST', `${path}/agreement`, { version: 1, scopes: ['site:views:read'] })
    assert.deepEqual([unread.status, unread.json.error.code], [409, 'agreement_missing'])
    const agreed = await annex.api('POST', `${path}/agreement`, { version: 2, scopes: ['site:views:read'] })
    assert.deepEqual([agreed.json.version, agreed.json.waiting, agreed.json.agreed.version], [2, null, 2])
    assert.equal(agreed.json.agreed.by.kind, 'token')
    assert.equal(await read(endpoint), 'two site:views:read')
    const again = await annex.api('POST', `${path}/agreement`, await agreementTo(annex, 'waits'))
    assert.deepEqual([again.status, again.json.error.code], [409, 'conflict'])
  })

  it('leaves the log lines of the older version unchanged', async () => {
    const failing = (linesBefore: number, scopes: string[] = []): PluginSource => ({
      script: `${'// A line.\n'.repeat(linesBefore)}import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: () => {
    console.log('seen', new Error('logged'))
    throw new Error('thrown')
  },
})`,
      scopes,
    })
    await publish('fails', failing(0))
    const { id, endpoint } = await installSample(annex, 'fails')
    await publish('fails', failing(20, ['site:views:read']))
    await read(endpoint)
    const { json } = await until(
      () => annex.api('GET', `/v1/logs?installation=${id}`),
      ({ json }) => json.items.length >= 2,
    )
    const lines = json.items.map(({ text }: Json) => /index\.ts:(\d+)/.exec(text)?.[1])
    assert.deepEqual(lines.toSorted(), ['4', '5'], JSON.stringify(json.items))
  })

  it('runs at once in a new installation', async () => {
    await publish('quiet', answering('two', { scopes: ['site:views:read'] }))
    const { endpoint } = await installSample(annex, 'quiet')
    assert.equal(await read(endpoint), 'two site:views:read')
  })

  it('runs at once with fewer scopes, another secret or a subdomain of a known host', async () => {
    const { path, endpoint } = await installSample(annex, 'named')
    const more = `egress: [api.example.com]\nsecrets: { KEY: "\${{ env.HANDBOOK_STATS_REPORT_TOKEN }}" }`
    await publish('named', answering('two', { more }))
    assert.equal(await read(endpoint), 'two ')
    assert.equal((await agreementOf(path)).json.waiting, null)
  })

  it('waits for agreement to a host, all hosts, a level and a directive', async () => {
    const { path, endpoint } = await installSample(annex, 'hosts')
    const waitingFor = async (more: string): Promise<string[]> => {
      await publish('hosts', answering(more, { more }))
      assert.equal(await read(endpoint), 'one ')
      return (await agreementOf(path)).json.waiting.permissions.map(
        ({ kind, name }: Json) => `${kind} ${name}`,
      )
    }
    assert.deepEqual(await waitingFor('egress: [api.example.com, evil.example]'), ['host evil.example'])
    assert.deepEqual(await waitingFor(''), ['host *'])
    const level =
      'egress: [api.example.com]\nconfigurations: { site: { properties: { a: { type: string, title: A, description: A } } } }'
    assert.deepEqual(await waitingFor(level), ['level site'])
    const policy = 'egress: [api.example.com]\ncontentSecurityPolicy: "script-src https://cdn.example"'
    assert.deepEqual(await waitingFor(policy), ['directive script-src https://cdn.example'])
  })

  it('gets no token with its scopes while it waits', async () => {
    await publish('reads', reading())
    const { path, endpoint } = await installSample(annex, 'reads', 'space')
    const base = path.slice(0, path.indexOf('/spaces'))
    const { space } = annex.server.samples
    const ask = async (url: string): Promise<string> => (await fetch(`${url}?${space}`)).text()
    const whole = `${annex.url}/x/reads`
    await publish('reads', reading({ scopes: ['space:metadata:read'] }))
    assert.match(await ask(endpoint), /^403/)
    assert.match(await ask(whole), /^404/)
    await annex.api('POST', `${base}/agreement`, await agreementTo(annex, 'reads'))
    assert.match(await ask(endpoint), /^200/)
    assert.match(await ask(whole), /^200/)
  })

  it('has a page with sentences, links and the data that the publisher can read', async () => {
    const more = `egress: [api.example.com]
summary: It **reads** visits.
categories: [analytics, visitor-auth]
externalLinks: [{ label: Help, url: https://help.example/ }]
blocks: [{ id: chart, title: Chart, description: A chart. }]`
    await publish('paged', answering('one', { scopes: ['site:views:read'], more }))
    const { page } = (await annex.api('GET', '/v1/integrations/paged')).json
    const { permissions, limits, publisher, ...rest } = page
    assert.deepEqual(rest, {
      summary: 'It **reads** visits.',
      summaryTree: [{ tag: 'p', children: ['It ', { tag: 'strong', children: ['reads'] }, ' visits.'] }],
      publishedBy: 'Home',
      target: 'all',
      previewImages: [],
      categories: ['analytics', 'authenticated-access'],
      externalLinks: [{ label: 'Help', url: 'https://help.example/' }],
      blocks: [{ id: 'chart', title: 'Chart', description: 'A chart.' }],
    })
    assert.deepEqual(
      permissions.map(({ sentence }: Json) => sentence),
      [
        'Read the visits of the sites that it is installed in, with data of the visitors.',
        'Send data to api.example.com.',
      ],
    )
    assert.ok(limits.includes('Send data to a host that its permissions do not name.'))
    assert.match(publisher, /^The publisher has a token/)
  })

  it('of an unlisted integration is visible to its owner, by its link, and to its installers', async () => {
    await publish('hidden', answering('one', { visibility: 'unlisted' }))
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'guest', title: 'Guest' })).json.id
    const { token } = (await annex.api('POST', `/v1/orgs/${org}/tokens`, {})).json
    const see = (query = '') => annex.api('GET', `/v1/integrations/hidden${query}`, undefined, token)
    assert.equal((await see()).status, 404)
    const { installKey } = (await annex.api('POST', '/v1/integrations/hidden/install-links', {})).json
    assert.equal((await see(`?installKey=${installKey}`)).status, 200)
    assert.equal((await see('?installKey=guessed')).status, 404)
    const body = { installKey, ...(await agreementTo(annex, 'hidden')) }
    assert.equal((await annex.api('POST', '/v1/integrations/hidden/installations', body, token)).status, 201)
    assert.equal((await see()).status, 200)
  })

  it('is not installed with a wrong agreement, and the answer names its permissions', async () => {
    const { organization } = annex.server.samples
    await publish('loaded', answering('two', { scopes: ['site:views:read', 'space:content:read'] }))
    const install = (body: object) =>
      annex.api('POST', '/v1/integrations/loaded/installations', { organization, ...body })
    const { version, scopes } = await agreementTo(annex, 'loaded')
    assert.deepEqual([version, scopes], [2, ['site:views:read', 'space:content:read']])
    const refused: object[] = [
      ...[{}, { agree: true }, { agree: false }, { version }, { scopes }, { version, agree: true }],
      ...[
        { agree: true, scopes },
        { version, scopes, agree: false },
        { version, scopes: [] },
      ],
      ...[
        { version: 1, scopes },
        { version: 3, scopes },
        { version, scopes: ['site:views:read'] },
      ],
      { version, scopes: ['site:views:read', 'SPACE:CONTENT:READ'] },
    ]
    for (const body of refused) {
      const { status, json } = await install(body)
      assert.deepEqual([status, json.error.code], [409, 'agreement_missing'], JSON.stringify(body))
      assert.match(json.error.message, /Send data to api\.example\.com\./)
      assert.ok(json.error.message.includes(JSON.stringify({ version, scopes })), json.error.message)
    }
    for (const version of ['2', 2.5, null]) assert.equal((await install({ version, scopes })).status, 422)
    const { details } = (await install({})).json.error
    const words = Object.fromEntries(details.map(({ path, value }: Json) => [path.slice(1), value]))
    const named = { version: words.version, scopes: words.scopes.toReversed() }
    assert.equal((await install(named)).status, 201, 'a program sends the details, in any order')
  })

  it('needs both a version and a list of scopes to agree, even an empty list', async () => {
    const { organization } = annex.server.samples
    await publish('scopeless', answering('one', {}))
    const install = (body: object) =>
      annex.api('POST', '/v1/integrations/scopeless/installations', { organization, ...body })
    for (const body of [{}, { agree: true }, { agree: false }, { version: 1 }, { scopes: [] }]) {
      const { status, json } = await install(body)
      assert.deepEqual([status, json.error.code], [409, 'agreement_missing'], JSON.stringify(body))
      assert.match(json.error.message, /Send data to api\.example\.com\./)
    }
    assert.equal((await install({ version: 1, scopes: [], agree: false })).status, 409)
    const installed = await install({ version: 1, scopes: [] })
    assert.equal(installed.status, 201, installed.text)
  })

  it('switches without a failed request', async () => {
    const { endpoint } = await installSample(annex, 'back')
    let isOver = false
    const seen = new Set<string>()
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const response = await fetch(endpoint)
        seen.add(`${response.status} ${await response.text()}`)
      }
    })
    await publish('back', answering('two'))
    await annex.api('POST', '/v1/integrations/back/rollback', {})
    await annex.api('POST', '/v1/integrations/back/unpin')
    await until(
      () => read(endpoint),
      (text) => text === 'two ',
    )
    isOver = true
    await Promise.all(load)
    assert.deepEqual([...seen].sort(), ['200 one ', '200 two '])
  })
})

const needing = `egress: [api.example.com]
target: space
configurations: { account: { properties: { team: { type: string, title: T, description: T } }, required: [team] } }`

describe('a rollback', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      plugins: { back: answering('one'), needs: answering('one', { more: needing }) },
    })
  })
  after(() => annex.close())

  const publish = async (name: string, source: PluginSource): Promise<Json> => {
    writePlugin(annex.pluginsDir, name, source)
    const { json } = await annex.api('POST', '/v1/reload')
    return json.items.find((plugin: Json) => plugin.name === name)
  }

  it('is pinned: a reload does not undo it, and unpin does', async () => {
    const { endpoint } = await installSample(annex, 'back')
    const read = async () => (await fetch(endpoint)).text()
    await publish('back', answering('two'))
    assert.equal(await read(), 'two ')
    const rolled = await annex.api('POST', '/v1/integrations/back/rollback', {})
    assert.deepEqual([rolled.json.number, rolled.json.pinned], [1, true])
    assert.equal(await read(), 'one ')
    const loaded = await publish('back', answering('three'))
    assert.match(loaded.note, /^Version 1 of back stays deployed, as it is pinned/)
    assert.equal(await read(), 'one ')
    const { json } = await annex.api('GET', '/v1/integrations/back/versions')
    assert.deepEqual(
      json.items.map(({ number, state }: Json) => `${number} ${state}`),
      ['3 loaded', '2 kept', '1 deployed'],
    )
    rmSync(join(annex.pluginsDir, 'back'), { recursive: true })
    await annex.api('POST', '/v1/reload')
    const early = await annex.api('POST', '/v1/integrations/back/unpin')
    assert.match(early.json.error.message, /The folder of back is gone/)
    await publish('back', answering('three'))
    assert.equal(await read(), 'one ', 'a folder that comes back undoes it no more than a reload')
    assert.equal((await annex.api('POST', '/v1/integrations/back/unpin')).json.number, 3)
    assert.equal(await read(), 'three ')
    assert.equal((await annex.api('POST', '/v1/integrations/back/unpin')).status, 409)
  })

  it('is refused with reasons if a level or a setting would be missing', async () => {
    await publish('needs', answering('two'))
    const { path } = await installSample(annex, 'needs', 'site')
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.status === 'active',
    )
    const { status, json } = await annex.api('POST', '/v1/integrations/needs/rollback', { version: 1 })
    assert.equal(status, 409)
    assert.deepEqual(
      json.error.details.map(({ path: where }: Json) => where),
      ['/configurations/account/properties/team', '/target'],
    )
    assert.match(json.error.message, /team: .*missing|required/)
    const unknown = await annex.api('POST', '/v1/integrations/needs/rollback', { version: 9 })
    assert.match(unknown.json.error.message, /has no version 9. Kept are: 2, 1\./)
  })
})
