import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Answered, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { agree, installIn } from '../support/installing.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

/** Queues a delivery to `to`, or stores `store` in its own level, as its component does. */
const script = `
import { createComponent, createIntegration } from '@annex/runtime'
const store = (configuration, { api, environment }, level = 'own') => {
  const { integration, installation, siteInstallation: site } = environment
  const path = '/integrations/' + integration.name + '/installations/' + installation.id
  const body = { configuration, keep: 'all' }
  return api.request({ method: 'PATCH', path: site && level === 'own' ? path + '/sites/' + site.site : path, body })
}
export default createIntegration({
  fetch: async (request, context) => {
    const { to, store: stored } = await request.json()
    const told = (error) => Response.json({ error: error.message })
    if (stored) return store(stored, context).then(() => Response.json({}), told)
    return context.integration.queueDelivery({ url: to, event: { type: 'told' } }).then(Response.json, told)
  },
  components: [createComponent({
    componentId: 'form',
    render: async () => ({ element: { type: 'text', children: ['Form'] } }),
    action: async (element, action, context) => {
      await store({ hook: action.hook }, context, 'account')
      return { type: 'complete' }
    },
  })],
})`

const text = '{ type: string, title: T, description: T }'
const choice = '{ type: string, title: T, description: T, completion_url: /choices }'
const settings = (fallback: string): string => {
  const properties = `{ hook: ${text}, second: ${text}, choice: ${choice}, fallback: { type: string, title: T, description: T, default: '${fallback}' } }`
  return ['account', 'site', 'space'].map((level) => `${level}: { properties: ${properties} }`).join(', ')
}
const guarded = (hosts: readonly string[], fallback = 'https://fallback.example'): PluginSource => ({
  script,
  more: `egress: ${JSON.stringify(hosts)}\nconfigurations: { ${settings(fallback)} }`,
})

type Receiver = Awaited<ReturnType<typeof startReceiver>>
type Level = { path: string; endpoint: string }

let annex: Annex
let receivers: Receiver[]
let declared: Receiver
let other: Receiver
const hostOf = ({ url }: Receiver): string => new URL(url).host

before(async () => {
  receivers = await Promise.all([startReceiver(204), startReceiver(204)])
  ;[declared, other] = receivers as [Receiver, Receiver]
  annex = await startAnnex({
    plugins: {
      ...Object.fromEntries(
        ['guards', 'levels', 'stores', 'sends', 'versions', 'shared'].map((name) => [
          name,
          guarded([hostOf(declared)], other.url),
        ]),
      ),
      open: { script },
      form: {
        script,
        more: `egress: []\nconfigurations: { account: { properties: { hook: ${text} } }, site: { componentId: form } }`,
      },
    },
    // No attempt but those that a test asks for.
    flags: { DELIVERY_RETRY_SECONDS: '3600' },
  })
})
after(() => Promise.all([annex?.close(), ...receivers.map(({ close }) => close())]))

const ask = async ({ endpoint }: Level, body: object): Promise<Json> =>
  (await fetch(endpoint, { method: 'POST', body: JSON.stringify(body) })).json()
/** @returns the error of a delivery that the host refused, or `queued` */
const queue = async (level: Level, url: string): Promise<string> => {
  const { id, error } = await ask(level, { to: url })
  return id === undefined ? error : 'queued'
}
const type = async ({ path }: Level, name: string, value: string): Promise<void> => {
  const { status, text } = await annex.api('PUT', `${path}/configuration/${name}`, { value })
  assert.equal(status, 200, text)
}
const refused = /^A delivery of \w+ may not go to 127\.0\.0\.1:\d+: its manifest says "egress: \[.*\]"/
const assertRefused = async (level: Level, url: string, what = ''): Promise<void> =>
  assert.match(await queue(level, url), refused, what)

describe('a delivery of a manifest with `egress`', () => {
  it('goes to a declared host, and the error for another names the entry and the two ways', async () => {
    const level = await installSample(annex, 'guards')
    assert.equal(await queue(level, declared.url), 'queued')
    assert.equal(
      await queue(level, other.url),
      `A delivery of guards may not go to ${hostOf(other)}: its manifest says "egress: [${hostOf(declared)}]", ` +
        `and no person typed this host in a setting of ${level.path.split('/').at(-1)}. ` +
        `Add "${hostOf(other)}" to "egress" in the manifest, or type the address in a setting.`,
    )
    for (const url of ['https://evil.example/', `http://localhost:${new URL(declared.url).port}/`]) {
      assert.match(await queue(level, url), /may not go to/, url)
    }
    const { items } = (await annex.api('GET', '/v1/deliveries')).json
    const stored: string[] = items.map(({ url }: Json) => url)
    assert.deepEqual(new Set(stored), new Set([declared.url]))
    await assertRefused(level, annex.url, 'nor to Annex itself: another script may be there')
    assert.equal(other.received.length, 0)
  })

  it('goes to the host of a setting that a person typed, at any level of the installation', async () => {
    const site = await installSample(annex, 'levels', 'site')
    const account = { path: site.path.replace(/\/sites.*/, ''), endpoint: '' }
    account.endpoint = (await annex.api('GET', account.path)).json.urls.publicEndpoint
    const { space: id } = annex.server.samples
    await annex.api('POST', `${account.path}/spaces`, { space: id })
    const space = { path: `${account.path}/spaces/${id}`, endpoint: '' }
    for (const typed of [account, site, space]) {
      for (const level of [account, site]) await assertRefused(level, other.url, typed.path)
      await type(typed, 'hook', other.url)
      for (const level of [account, site]) assert.equal(await queue(level, other.url), 'queued', typed.path)
      await annex.api('DELETE', `${typed.path}/configuration/hook`)
    }
    await assertRefused(account, other.url, 'the setting is removed')
    const edited = await annex.api('PATCH', site.path, { configuration: { hook: `  ${other.url}  ` } })
    assert.equal(edited.status, 200, edited.text)
    assert.equal(await queue(site, other.url), 'queued', 'an edit of the whole level')
  })

  it('does not go to a host that the script stored, a default or one of its choices', async () => {
    const level = await installSample(annex, 'stores')
    await assertRefused(level, other.url, 'the default')
    for (const stored of [{ hook: other.url }, { own: other.url }]) {
      assert.deepEqual(await ask(level, { store: stored }), {})
      await assertRefused(level, other.url, JSON.stringify(stored))
    }
    for (const hook of [other.url, ` ${other.url.toUpperCase()} `, `${other.url}/more`]) {
      const form = await annex.api('PATCH', level.path, { configuration: { hook, second: 'a text' } })
      assert.equal(form.status, 200, form.text)
      await assertRefused(level, other.url, `a form sends back what the script stored: ${hook}`)
    }
    await type(level, 'choice', other.url)
    await assertRefused(level, other.url, 'a choice of the script')
    await type(level, 'second', `see ${other.url}`)
    await assertRefused(level, other.url, 'a text with an address')
    await type(level, 'hook', other.url)
    assert.equal(await queue(level, other.url), 'queued', 'a person types what the script stored')
    await annex.api('PATCH', level.path, { configuration: { hook: `${other.url}/path` } })
    assert.equal(await queue(level, other.url), 'queued', 'a person edits the path')
    await type(level, 'hook', other.url)
    assert.deepEqual(await ask(level, { store: { hook: other.url, own: 'more' } }), {})
    assert.equal(await queue(level, other.url), 'queued', 'the script stores the same value')
    await ask(level, { store: { hook: 'https://mine.example/' } })
    assert.match(await queue(level, 'https://mine.example/'), /may not go to mine\.example/)
    await assertRefused(level, other.url, 'the script has replaced it')
    await ask(level, { store: { hook: other.url } })
    await assertRefused(level, other.url, 'the script has put it back')
  })

  it('does not go to a host that a component stored after an action of a person', async () => {
    const site = await installSample(annex, 'form', 'site')
    const account = site.path.replace(/\/sites.*/, '')
    const action = { action: 'save', hook: other.url }
    const saved = await annex.api('POST', `${site.path}/render`, { componentId: 'form', action })
    assert.equal(saved.status, 200, saved.text)
    assert.equal((await annex.api('GET', account)).json.configuration.hook, other.url)
    await assertRefused(site, other.url)
    assert.deepEqual(await ask(site, { store: { hook: other.url } }), {})
    await assertRefused(site, other.url)
  })

  it('does not go to a host that a person typed in another organization', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'neighbour', title: 'Neighbour' })
    const theirs = await installIn(annex, 'shared', 'neighbour')
    const ours = await installSample(annex, 'shared')
    await type(theirs, 'hook', other.url)
    assert.equal(await queue(theirs, other.url), 'queued')
    await assertRefused(ours, other.url)
  })
})

describe('a delivery that waits for its next attempt', () => {
  const failing = async (level: Level): Promise<{ id: string; receiver: Receiver }> => {
    const receiver = await startReceiver(503, 204)
    receivers.push(receiver)
    await type(level, 'hook', receiver.url)
    const { id } = await ask(level, { to: receiver.url })
    await until(
      () => read(id),
      ({ attempts }) => attempts === 1,
    )
    return { id, receiver }
  }
  const read = async (id: string): Promise<Json> => (await annex.api('GET', `/v1/deliveries/${id}`)).json
  const sendNow = (id: string): Promise<Answered> => annex.api('POST', `/v1/deliveries/${id}/send`)
  const settled = (id: string): Promise<Json> =>
    until(
      () => read(id),
      ({ state }) => state !== 'pending',
    )

  it('fails once the settings name another host, and goes out once a person sets it again', async () => {
    const level = await installSample(annex, 'sends')
    const { id, receiver } = await failing(level)
    await type(level, 'hook', other.url)
    // A permission is cached for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.equal((await sendNow(id)).status, 202)
    const failed = await settled(id)
    assert.deepEqual([failed.state, failed.attempts], ['failed', 1])
    assert.match(failed.reason, /^egress_refused: A delivery of sends may not go to /)
    await type(level, 'second', receiver.url)
    assert.equal((await sendNow(id)).status, 202)
    assert.equal((await settled(id)).state, 'delivered')
    assert.equal(receiver.received.length, 2)
  })

  it('is checked against the running version, not against one that waits for agreement', async () => {
    const level = await installSample(annex, 'versions')
    const { id, receiver } = await failing(level)
    const properties = `{ other: ${text} }`
    const publish = async (hosts: readonly string[]) => {
      const more = `egress: ${JSON.stringify(hosts)}\nconfigurations: { account: { properties: ${properties} } }`
      writePlugin(annex.pluginsDir, 'versions', { script, more })
      await annex.api('POST', '/v1/reload')
    }
    await publish([hostOf(declared), 'new.example'])
    assert.equal(await queue(level, receiver.url), 'queued', 'the older version declares the setting')
    await agree(annex, level.path)
    await assertRefused(level, receiver.url, 'the setting is gone')
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await sendNow(id)
    assert.match((await settled(id)).reason, /^egress_refused: .*"egress: \[.*new\.example\]"/)
    await publish([hostOf(receiver)])
    await agree(annex, level.path)
    await sendNow(id)
    assert.equal((await settled(id)).state, 'delivered')
  })
})

describe('a delivery of a manifest without `egress`', () => {
  it('goes to any host, unless the operator requires the field', async () => {
    assert.equal(await queue(await installSample(annex, 'open'), other.url), 'queued')
    const strict = await startAnnex({
      plugins: { strict: { script, more: `configurations: { account: { properties: { hook: ${text} } } }` } },
      flags: { EGRESS_REQUIRE_DECLARED: 'true' },
    })
    try {
      const level = await installSample(strict, 'strict')
      assert.match(await queue(level, other.url), /declares no host.*EGRESS_REQUIRE_DECLARED/)
      await strict.api('PUT', `${level.path}/configuration/hook`, { value: other.url })
      assert.equal(await queue(level, other.url), 'queued')
    } finally {
      await strict.close()
    }
  })
})
