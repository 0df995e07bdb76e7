import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Answered, type Json, request, startAnnex } from '../support/annex.ts'
import { createPng } from '../support/create-png.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: (_request, { environment }) => Response.json(environment.integration.urls) })`
const pictured = { script, more: 'icon: icon.png', files: { 'icon.png': createPng(1, 1) } }

const refusal = ({ status, json }: Answered) => [status, json?.error?.code]
const links = (name: string) => `/v1/integrations/${name}/install-links`

describe('an integration that is not public', () => {
  let annex: Annex
  let guest: (method: string, path: string, body?: unknown) => Promise<Answered>
  let reader: typeof guest
  before(async () => {
    annex = await startAnnex({
      plugins: {
        hidden: { ...pictured, visibility: 'private' },
        linked: { ...pictured, visibility: 'unlisted' },
        retired: { ...pictured, visibility: 'private' },
        open: pictured,
      },
    })
    await annex.api('POST', '/v1/orgs', { subdomain: 'guest', title: 'Guest' })
    const as =
      (token: string): typeof guest =>
      (method, path, body) =>
        request(annex.url, method, path, body, token)
    const tokenOf = async (org: string, role: string) =>
      (await annex.api('POST', `/v1/orgs/${org}/tokens`, { role })).json.token
    guest = as(await tokenOf('guest', 'admin'))
    reader = as(await tokenOf('home', 'reader'))
    rmSync(join(annex.pluginsDir, 'retired'), { recursive: true })
    await annex.api('POST', '/v1/reload', {})
  })
  after(() => annex?.close())

  const makeLink = async (label = 'Guest'): Promise<Json> => {
    const { status, json, text } = await annex.api('POST', links('linked'), { label })
    assert.equal(status, 201, text)
    return json
  }

  it('is hidden from people of another organization', async () => {
    const withKey = `?installKey=${(await makeLink()).installKey}`
    const calls: [string, (name: string) => string, object?][] = [
      ['GET', (name) => `/v1/integrations/${name}`],
      ['GET', (name) => `/v1/integrations/${name}?installKey=guess`],
      ['GET', (name) => `/v1/integrations/${name}?installKey=`],
      ['GET', (name) => `/v1/integrations/${name}/versions`],
      ['GET', (name) => `/v1/integrations/${name}/versions/1/diff`],
      ['GET', (name) => `/v1/integrations/${name}/installations`],
      ['GET', (name) => `/v1/integrations/${name}/installations/inst_none`],
      ['GET', (name) => links(name)],
      ['POST', (name) => links(name), {}],
      ['DELETE', (name) => `${links(name)}/lnk_none`],
      ['POST', (name) => `/v1/integrations/${name}/installations`, {}],
      [
        'POST',
        (name) => `/v1/integrations/${name}/installations`,
        { installKey: 'guess', version: 1, scopes: [] },
      ],
      ['POST', (name) => `/v1/integrations/${name}/installations`, { installKey: '' }],
      ['POST', (name) => `/v1/integrations/${name}/settings/check`, { level: 'account', configuration: {} }],
      ['POST', (name) => `/v1/integrations/${name}/rollback`, {}],
      ['POST', (name) => `/v1/integrations/${name}/unpin`, {}],
      ['POST', (name) => `/v1/integrations/${name}/resume`, {}],
      ['GET', (name) => `/v1/integrations/${name}/assets/icon.png`],
      ['GET', (name) => `/v1/integrations/${name}/assets/~AAAAAAAAAAAAAAAAAAAAAA/icon.png`],
    ]
    for (const [method, toPath, body] of calls) {
      const absent = await guest(method, toPath('absent'), body)
      for (const name of ['hidden', 'linked', 'retired', 'Hidden']) {
        const answer = await guest(method, toPath(name), body)
        assert.deepEqual(refusal(answer), refusal(absent), `${method} ${toPath(name)}: ${answer.text}`)
        assert.equal(answer.status, 404)
        const textOf = ({ json }: Answered, of: string) => json.error.message.replaceAll(of, 'NAME')
        assert.equal(textOf(answer, name), textOf(absent, 'absent'), `${method} ${toPath(name)}`)
      }
    }
    // The key of one opens no other.
    assert.equal((await guest('GET', `/v1/integrations/hidden${withKey}`)).status, 404)
  })

  it('shows its images to people who may see it, at an address that cannot be guessed', async () => {
    const status = async (url: string) => (await fetch(url)).status
    for (const name of ['hidden', 'linked']) {
      const plain = `${annex.url}/v1/integrations/${name}/assets/icon.png`
      assert.equal(await status(plain), 404, 'without a token')
      assert.equal((await reader('GET', new URL(plain).pathname)).status, 200)
      const { page } = (await reader('GET', `/v1/integrations/${name}`)).json
      assert.match(page.icon, /\/assets\/~[\w-]{22}\/icon\.png$/)
      const shown = await fetch(page.icon)
      assert.deepEqual([shown.status, shown.headers.get('cache-control')], [200, 'private, max-age=300'])
      const forged = page.icon.replace(`/${name}/`, name === 'hidden' ? '/linked/' : '/hidden/')
      assert.equal(await status(forged), 404, 'the key of another integration')
    }
    const { page } = (await guest('GET', '/v1/integrations/open')).json
    assert.equal(page.icon, `${annex.url}/v1/integrations/open/assets/icon.png`)
    assert.equal(await status(page.icon), 200)
    const path = '/v1/integrations/hidden/installations'
    const installed = await annex.api('POST', path, {
      organization: 'home',
      ...(await agreementTo(annex, 'hidden')),
    })
    const urls: Json = await (await fetch(installed.json.urls.publicEndpoint)).json()
    assert.equal(await status(urls.icon), 200, 'the address that a script writes into a page')
    assert.equal(await status(`${urls.assets}/icon.png`), 200)
  })

  it('has links that are shown once, listed without their keys, and revoked', async () => {
    const [first, second] = [await makeLink('Acme'), await makeLink('Acme, again')]
    assert.match(first.installKey, /^annex_link_[\w-]{32}$/)
    assert.equal(first.url, `${annex.url}/v1/integrations/linked?installKey=${first.installKey}`)
    assert.equal(first.app, `${annex.url}/integrations/linked?installKey=${first.installKey}`)
    const listed = await annex.api('GET', `${links('linked')}?limit=2`)
    assert.deepEqual(
      listed.json.items.map(({ id, label }: Json) => [id, label]),
      [
        [second.id, 'Acme, again'],
        [first.id, 'Acme'],
      ],
    )
    const texts = [listed.text, (await annex.api('GET', '/v1/integrations/linked')).text]
    texts.push((await annex.api('GET', '/v1/audit')).text)
    for (const text of texts) assert.ok(!text.includes(first.installKey.slice('annex_link_'.length)), text)

    const see = ({ installKey }: Json) => guest('GET', `/v1/integrations/linked?installKey=${installKey}`)
    assert.deepEqual([(await see(first)).status, (await see(second)).status], [200, 200])
    assert.equal((await annex.api('DELETE', `${links('linked')}/${first.id}`)).status, 204)
    assert.deepEqual([(await see(first)).status, (await see(second)).status], [404, 200])
    assert.equal((await annex.api('DELETE', `${links('linked')}/${first.id}`)).status, 404)
    assert.equal((await annex.api('DELETE', `${links('hidden')}/${second.id}`)).status, 404)

    const path = '/v1/integrations/linked/installations'
    assert.deepEqual(refusal(await guest('POST', path, { installKey: first.installKey })), [404, 'not_found'])
    const installed = await guest('POST', path, {
      installKey: second.installKey,
      ...(await agreementTo(annex, 'linked')),
    })
    assert.equal(installed.status, 201, installed.text)
    await annex.api('DELETE', `${links('linked')}/${second.id}`)
    assert.equal((await guest('GET', '/v1/integrations/linked')).status, 200, 'who has it, keeps it')
    const audit = (await annex.api('GET', `/v1/audit?subject=${first.id}`)).json.items
    assert.deepEqual(
      audit.map(({ action, before, after }: Json) => [action, before ?? after]),
      [
        ['install_link.revoke', { integration: 'linked', label: 'Acme' }],
        ['install_link.create', { integration: 'linked', label: 'Acme' }],
      ],
    )
  })

  it('shows its links to admins of its owner only', async () => {
    assert.deepEqual(refusal(await reader('GET', links('linked'))), [403, 'forbidden'])
    assert.deepEqual(refusal(await reader('POST', links('linked'), {})), [403, 'forbidden'])
    assert.deepEqual(refusal(await guest('GET', links('open'))), [403, 'forbidden'])
  })
})
