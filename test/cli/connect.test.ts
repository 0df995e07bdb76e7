import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createBrowser } from '../support/browser.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { type Served, startServe } from './support/start-serve.ts'

/** A provider is no part of this: its callback comes from the test. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { environment, api }) => {
  const { integration, installation } = environment
  const { searchParams } = new URL(request.url)
  if (!searchParams.has('code')) {
    return Response.redirect('https://provider.example/?client_id=a&redirect_uri=' + request.url)
  }
  const connection = { callback: '/oauth', account: 'ada@example.com' }
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

describe('annex connect', () => {
  const plugins = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
  let served: Served
  before(async () => {
    writePlugin(plugins, 'tracker', { script, more })
    served = await startServe({ PLUGINS_DIR: plugins })
  })
  after(async () => {
    await served?.close()
    rmSync(plugins, { recursive: true })
  })

  it('prints a link that connects an installation, which shows its account then', async () => {
    const installed = await served.annex('install', 'tracker', '--yes')
    assert.match(installed.stderr, /annex connect tracker account/)
    const { code, stdout, stderr } = await served.annex('connect', 'tracker')
    assert.equal(code, 0, stderr)
    assert.match(stderr, /works once, for ten minutes/)
    const browser = createBrowser()
    const { next = '' } = await browser.follow(stdout.trim(), /provider\.example/)
    const { searchParams } = new URL(next)
    const back = `${searchParams.get('redirect_uri')}?code=1&state=${searchParams.get('state')}`
    assert.equal(await (await browser.get(back)).text(), 'connected')
    const shown = await served.annex('installations', 'tracker')
    assert.match(shown.stdout, /account: connected as ada@example\.com since \d{4}-/)
    assert.ok(!shown.stdout.includes('secret-access-token'))
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

  it('says which buttons there are', async () => {
    const refused = await served.annex('connect', 'tracker', 'acount')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /has no button "acount"\. It has: account/)
  })
})
