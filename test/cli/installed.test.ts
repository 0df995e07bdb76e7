import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createBrowser } from '../support/browser.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

/** A provider is no part of this: its callback comes from the test. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { environment, api }) => {
  const { integration, installation } = environment
  const { searchParams } = new URL(request.url)
  if (!searchParams.has('code')) {
    return Response.redirect('https://provider.example/?client_id=a&redirect_uri=' + request.url)
  }
  const connection = { callback: '/oauth', account: searchParams.get('code') + '@example.com' }
  const configuration = { oauth_credentials: { access_token: 'secret-access-token' } }
  await api.integrations.updateIntegrationInstallation(integration.name, installation.id, { configuration, connection })
  return new Response('connected')
} })`

const more = `
configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }
      key: { type: string, title: Key, description: Of the provider, secret: true }
    required: [account]`

const clips = `
import { createComponent, createIntegration } from '@annex/runtime'
const clip = createComponent({
  componentId: 'clip',
  initialState: { open: false },
  action: async ({ state }, { action }) => ({ state: { ...state, open: action === 'open' } }),
  render: async ({ props, state }) => ({ type: 'block', children: [], url: props.url, open: state.open }),
})
export default createIntegration({
  components: [clip],
  events: { installation_setup: (event, { storage }) => storage.put('private-key', 'private-value') },
  fetch: (request) => Response.json([{ label: 'Docs ' + new URL(request.url).searchParams.get('q'), value: 'docs' }]),
})`

const clipSettings = `
target: all
configurations:
  account:
    properties:
      project: { type: string, title: Project, description: Of clips, completion_url: /projects }`

const plugins = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
let served: Started
before(async () => {
  writePlugin(plugins, 'tracker', { script, more })
  writePlugin(plugins, 'clips', { script: clips, more: clipSettings })
  served = await startInProcess({ PLUGINS_DIR: plugins })
  const installed = await served.annex('install', 'clips', '--yes')
  assert.equal(installed.code, 0, installed.stderr)
})
after(async () => {
  await served?.close()
  rmSync(plugins, { recursive: true })
})

describe('annex connect', () => {
  async function connectAs(name: string): Promise<void> {
    const { code, stdout, stderr } = await served.annex('connect', 'tracker')
    assert.equal(code, 0, stderr)
    assert.match(stderr, /works once, for ten minutes/)
    const browser = createBrowser()
    const { next = '' } = await browser.follow(stdout.trim(), /provider\.example/)
    const { searchParams } = new URL(next)
    const back = `${searchParams.get('redirect_uri')}?code=${name}&state=${searchParams.get('state')}`
    assert.equal(await (await browser.get(back)).text(), 'connected')
  }

  it('prints a link that connects an installation, and then shows its account', async () => {
    const installed = await served.annex('install', 'tracker', '--yes')
    assert.match(installed.stderr, /npx annex connect tracker account/)
    await connectAs('ada')
    const shown = await served.annex('installations', 'tracker')
    assert.match(shown.stdout, /account: connected as ada@example\.com since \d{4}-/)
    assert.ok(!shown.stdout.includes('secret-access-token'))
  })

  it('does not replace an account: `annex connections` refuses or accepts another one', async () => {
    await connectAs('bea')
    const shown = await served.annex('installations', 'tracker')
    assert.match(
      shown.stdout,
      /account: connected as ada@\S+ since \S+ \(bea@\S+ waits for a yes until \d{4}-\S+, in place of ada@/,
    )
    assert.match(shown.stderr, /npx annex connections/)
    const wrong = await served.annex('connections', 'accept', 'tracker', 'eve@example.com')
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /The account bea@example\.com waits there by now/)
    const refused = await served.annex('connections', 'refuse', 'tracker')
    assert.equal(refused.code, 0, refused.stderr)
    assert.match(refused.stdout, /^account: connected as ada@example\.com since \S+\n$/)
    for (const args of [
      ['accept', 'tracker', 'bea@example.com'],
      ['refuse', 'tracker'],
    ]) {
      const none = await served.annex('connections', ...args)
      assert.equal(none.code, 2)
      assert.match(none.stderr, /No account waits for a yes/)
    }
    const named = await served.annex('connections', 'refuse', 'tracker', 'key')
    assert.equal(named.code, 1)
    assert.match(named.stderr, /No account waits for a yes at the connection "key"/)
    await connectAs('bea')
    const accepted = await served.annex(
      'connections',
      'accept',
      'tracker',
      'bea@example.com',
      'account',
      '--json',
    )
    const { account, held } = JSON.parse(accepted.stdout).connections.account
    assert.deepEqual([account, held], ['bea@example.com', undefined])
    assert.ok(!accepted.stdout.includes('secret-access-token'))
  })

  it('is undone by `annex configure --unset`', async () => {
    const unset = await served.annex(
      'configure',
      'tracker',
      '--unset',
      'account',
      '--set',
      'key=sk-0123456789',
    )
    assert.equal(unset.code, 0, unset.stderr)
    const shown = await served.annex('installations', 'tracker')
    assert.match(shown.stdout, /account: not connected/)
    assert.match(shown.stdout, /key = "\[secret\]"/)
  })

  it('names the buttons of the integration', async () => {
    const refused = await served.annex('connect', 'tracker', 'acount')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /has no button "acount"\. It has: account/)
  })
})

describe('the commands of an installation', () => {
  it('`annex storage` shows sizes for each level, and no key or value', async () => {
    const { code, stdout, stderr } = await served.annex('storage', 'clips')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^level +keys +bytes\naccount +1 +\d+\n$/)
    const { items } = JSON.parse((await served.annex('storage', 'clips', '--json')).stdout)
    assert.deepEqual([items[0].level, items[0].keys], ['installation', 1])
    assert.ok(!JSON.stringify(items).includes('private'))
  })

  it('`annex select` shows and changes the selection', async () => {
    const shown = await served.annex('select', 'clips')
    assert.equal(shown.stdout, 'sites: selected\nspaces: selected\n', shown.stderr)
    const changed = await served.annex('select', 'clips', '--spaces', 'all', '--json')
    assert.deepEqual(JSON.parse(changed.stdout), { sites: 'selected', spaces: 'all' })
    const wrong = await served.annex('select', 'clips', '--spaces', 'some')
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /all, selected/)
  })

  it('`annex render` prints the element tree, also after an action', async () => {
    const url = 'https://clips.example/42'
    const first = await served.annex('render', 'clips', 'clip', '--props', JSON.stringify({ url }))
    assert.equal(first.code, 0, first.stderr)
    const { state, element } = JSON.parse(first.stdout)
    assert.deepEqual([state, element.url], [{ open: false }, url])
    const acted = await served.annex(
      ...['render', 'clips', 'clip', '--state', JSON.stringify(state), '--action', '{"action":"open"}'],
    )
    assert.equal(JSON.parse(acted.stdout).element.open, true, acted.stderr)
  })

  it('`annex render` refuses anything except a JSON object, and names a missing component', async () => {
    for (const props of ['{', '[1]', 'null']) {
      const { code, stderr } = await served.annex('render', 'clips', 'clip', '--props', props)
      assert.equal(code, 2)
      assert.match(stderr, /must be a JSON object/)
    }
    const missing = await served.annex('render', 'clips', 'film')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /no component/)
  })

  it('`annex options` lists the answer of the script, and `configure` accepts a value', async () => {
    const { code, stdout, stderr } = await served.annex('options', 'clips', 'project', '--search', 'home')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /value +label\ndocs +Docs home\n/)
    const missing = await served.annex('options', 'clips', 'account')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /no setting "account" with a completion_url/)
  })

  it('`annex installations` marks a value that was in no list of choices', async () => {
    const shown = async () => (await served.annex('installations', 'clips')).stdout
    await served.annex('configure', 'clips', '--set', 'project=elsewhere')
    assert.match(await shown(), / project = "elsewhere" \(no list of choices has had it\)\n/)
    await served.annex('configure', 'clips', '--set', 'project=docs')
    await served.annex('options', 'clips', 'project')
    assert.match(await shown(), / project = "docs"\n/)
  })

  it('`annex sites script` lists the origins of a site and prints the line for its pages', async () => {
    const first = await served.annex('sites', 'script')
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^<script src="\S+script\.js" defer><\/script>\n$/)
    assert.match(first.stderr, /has no origins/)
    const set = await served.annex('sites', 'script', 'sample', '--origin', 'https://docs.example.com')
    assert.match(set.stdout, /origin https:\/\/docs\.example\.com\n/)
    const named = await served.annex('sites', 'script', '--cookie', 'consent', '--cookie', 'region')
    assert.match(named.stdout, /\norigin https:\/\/docs\.example\.com\ncookie consent\ncookie region\n/)
    const unnamed = await served.annex('sites', 'script', 'sample', '--no-cookies')
    assert.doesNotMatch(unnamed.stdout, /cookie/)
    const { key } = JSON.parse((await served.annex('sites', 'script', '--json')).stdout)
    const renewed = JSON.parse((await served.annex('sites', 'script', '--new-key', '--json')).stdout)
    assert.notEqual(renewed.key, key)
    assert.deepEqual(renewed.origins, ['https://docs.example.com'])
  })
})
