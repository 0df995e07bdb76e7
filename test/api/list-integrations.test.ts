import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import apiSchema from '../../schemas/api/integrations.schema.json' with { type: 'json' }
import manifestSchema from '../../schemas/manifest.schema.json' with { type: 'json' }
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, request, startAnnex } from '../support/annex.ts'
import { createPng } from '../support/create-png.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.apiTokens),
})`

const texts = (title: string, description: string, categories: string[] = []): string =>
  [
    `title: ${JSON.stringify(title)}`,
    `description: ${JSON.stringify(description)}`,
    `categories: ${JSON.stringify(categories)}`,
  ].join('\n')

/** Writes a plugin folder whose manifest has these fields instead of the title and description of `writePlugin`. */
function write(pluginsDir: string, name: string, fields: string, source: PluginSource = {}): void {
  const { organization = 'home', visibility = 'public', files, script } = source
  const manifest = [
    `name: ${name}\norganization: ${organization}\nvisibility: ${visibility}\nscopes: []`,
    script === undefined ? '' : 'script: ./index.ts',
    fields,
  ].join('\n')
  writePlugin(pluginsDir, name, { ...source, files: { ...files, 'service-manifest.yaml': manifest } })
}

describe('the list of integrations', () => {
  let annex: Annex
  const tokens: Record<string, string> = {}
  before(async () => {
    annex = await startAnnex()
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    for (const organization of ['home', 'acme'])
      tokens[organization] = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json.token
    const icon = { files: { 'pictures/the icon.png': createPng(4, 4) } }
    const withIcon = 'icon: ./pictures/the icon.png'
    const { pluginsDir } = annex
    write(pluginsDir, 'Page-Stats', texts('Seitenzähler', 'Counts 100% of all views.', ['analytics']))
    write(
      pluginsDir,
      'chat',
      `${texts('Straße & Co', 'Sends a_message.', ['collaboration', 'analytics'])}\n${withIcon}`,
      icon,
    )
    write(pluginsDir, 'gate', texts('ΟΔΟΣ', 'Signs visitors in.\nOn two lines.', ['visitor-auth']), {
      script,
    })
    write(pluginsDir, 'hidden', `${texts('Hidden', 'Of acme alone.', ['analytics'])}\n${withIcon}`, {
      ...icon,
      organization: 'acme',
      visibility: 'private',
    })
    write(pluginsDir, 'linked', texts('Linked', 'By its link.', ['content']), { visibility: 'unlisted' })
    const { json } = await annex.api('POST', '/v1/reload')
    assert.deepEqual(
      json.items.flatMap(({ problems }: Json) => problems),
      [],
    )
  })
  after(() => annex.close())

  const ask = (query: Record<string, string>, token?: string) =>
    annex.api('GET', `/v1/integrations?${new URLSearchParams(query)}`, undefined, token)
  const names = async (query: Record<string, string>, token?: string): Promise<string[]> => {
    const { status, json, text } = await ask(query, token)
    assert.equal(status, 200, text)
    return json.items.map(({ name }: Json) => name)
  }
  const all = ['Page-Stats', 'chat', 'gate', 'hidden', 'linked']

  for (const [q, found] of [
    ['page-stats', ['Page-Stats']],
    ['PAGE', ['Page-Stats']],
    ['seitenZÄHLER', ['Page-Stats']],
    ['a\u0308hler', ['Page-Stats']],
    ['STRASSE', ['chat']],
    ['straße', ['chat']],
    ['οδος', ['gate']],
    ['Ｃｈａｔ', ['chat']],
    ['in. on TWO', ['gate']],
    ['  two   lines ', ['gate']],
    ['%', ['Page-Stats']],
    ['100%', ['Page-Stats']],
    ['1%0', []],
    ['_', ['chat']],
    ['a_m', ['chat']],
    ['p_ge', []],
    ['*', []],
    ['"', []],
    ["' or 1=1 --", []],
    ['\\', []],
    ['chat straße', []],
    ['chat\nstraße', []],
    ['analytics', []],
    ['', all],
    ['   ', all],
    ['x'.repeat(200), []],
  ] as const) {
    it(`finds ${found.length} by ${JSON.stringify(q)}`, async () => {
      assert.deepEqual(await names({ q }), found)
    })
  }

  it('refuses a search text that is too long, repeated, or has U+0000', async () => {
    for (const query of [`q=${'x'.repeat(201)}`, 'q=a&q=b', 'q=%00']) {
      const { status, json } = await annex.api('GET', `/v1/integrations?${query}`)
      assert.deepEqual([status, json.error.code], [400, 'bad_request'], query)
    }
  })

  it('filters by category, with each of its names, and refuses an unknown one', async () => {
    assert.deepEqual(await names({ category: 'analytics' }), ['Page-Stats', 'chat', 'hidden'])
    for (const category of ['visitor-auth', 'authenticated-access'])
      assert.deepEqual(await names({ category }), ['gate'])
    assert.deepEqual(await names({ category: 'marketing' }), [])
    for (const category of ['nope', 'Analytics', '', 'analytics,content', '["analytics"]']) {
      const { status, json } = await ask({ category })
      assert.deepEqual([status, json.error.code], [400, 'bad_request'], category)
      assert.match(json.error.message, /category .*analytics.*other/)
    }
    assert.deepEqual(apiSchema.$defs.Category.enum, manifestSchema.$defs.category.enum)
  })

  it('filters by the caller’s installed integrations, at any visibility', async () => {
    const install = async (name: string, organization: string) =>
      annex.api('POST', `/v1/integrations/${name}/installations`, {
        organization,
        ...(await agreementTo(annex, name)),
      })
    const { installKey } = (await annex.api('POST', '/v1/integrations/linked/install-links', {})).json
    const body = { installKey, ...(await agreementTo(annex, 'linked')) }
    const linked = await annex.api('POST', '/v1/integrations/linked/installations', body, tokens.acme)
    assert.equal(linked.status, 201, linked.text)
    await install('chat', 'acme')
    await install('Page-Stats', 'home')
    const { id } = (await install('gate', 'acme')).json
    assert.deepEqual(await names({ installed: 'true' }, tokens.acme), ['chat', 'gate', 'linked'])
    await annex.api('DELETE', `/v1/integrations/gate/installations/${id}`)
    for (const [query, token, found] of [
      [{ installed: 'true' }, tokens.acme, ['chat', 'linked']],
      [{ installed: 'false' }, tokens.acme, ['Page-Stats', 'gate', 'hidden']],
      [{}, tokens.acme, ['Page-Stats', 'chat', 'gate', 'hidden']],
      [{ installed: 'true' }, tokens.home, ['Page-Stats']],
      [{ installed: 'false' }, tokens.home, ['chat', 'gate', 'linked']],
      [{ installed: 'true', organization: 'acme' }, undefined, ['chat', 'linked']],
      [{ installed: 'false', organization: 'acme' }, undefined, ['Page-Stats', 'gate', 'hidden']],
      [{ organization: 'acme' }, undefined, ['Page-Stats', 'chat', 'gate', 'hidden']],
      [{ organization: 'home' }, tokens.home, ['Page-Stats', 'chat', 'gate', 'linked']],
      [{ installed: 'true', category: 'analytics' }, tokens.acme, ['chat']],
      [{ installed: 'false', category: 'analytics', q: 'ACME' }, tokens.acme, ['hidden']],
      [{ category: 'analytics', q: 'acme' }, tokens.home, []],
    ] as const) {
      assert.deepEqual(await names(query, token), found, JSON.stringify(query))
    }
  })

  it('refuses this filter without an organization, and for another one', async () => {
    const asks = await annex.api('POST', '/v1/integrations/gate/installations', {
      organization: 'home',
      ...(await agreementTo(annex, 'gate')),
    })
    const scripts: Json = await (await fetch(asks.json.urls.publicEndpoint)).json()
    for (const [query, token, expected] of [
      [{ installed: 'true' }, undefined, 400],
      [{ installed: 'true' }, scripts.installation, 400],
      [{ installed: 'false' }, scripts.integration, 400],
      [{ installed: 'yes' }, tokens.home, 400],
      [{ installed: '' }, tokens.home, 400],
      [{ installed: 'true', organization: 'acme' }, tokens.home, 404],
      [{ organization: 'acme' }, tokens.home, 404],
      [{ organization: 'nope' }, undefined, 404],
    ] as const) {
      const { status, text } = await ask(query, token)
      assert.equal(status, expected, `${JSON.stringify(query)}: ${text}`)
    }
    assert.deepEqual(await names({ q: 'CHAT' }, scripts.installation), ['chat'])
  })

  it('has the same items in pages with each filter', async () => {
    for (const [query, token] of [
      [{ category: 'analytics' }, undefined],
      [{ q: 'a' }, tokens.home],
      [{ installed: 'false' }, tokens.acme],
      [{ installed: 'true' }, tokens.acme],
      [{ q: 's', category: 'analytics' }, tokens.acme],
    ] as const) {
      const whole = await names(query, token)
      assert.ok(whole.length >= 2, JSON.stringify(query))
      const found: string[] = []
      for (let page = ''; ; ) {
        const { json } = await ask({ ...query, limit: '1', ...(page && { page }) }, token)
        found.push(...json.items.map(({ name }: Json) => name))
        if (json.next === undefined) break
        page = json.next.page
        assert.equal((await ask({ limit: '1', page }, token)).status, 400, 'a page of other filters')
      }
      assert.deepEqual(found, whole)
    }
  })

  it('has categories, and an icon that needs no token', async () => {
    const { items } = (await ask({})).json
    const byName = new Map<string, Json>(items.map((item: Json) => [item.name, item]))
    assert.deepEqual(byName.get('gate').categories, ['authenticated-access'])
    assert.deepEqual(byName.get('chat').categories, ['collaboration', 'analytics'])
    assert.equal('icon' in byName.get('gate'), false)
    for (const name of ['chat', 'hidden']) {
      const { icon } = byName.get(name)
      const image = await fetch(icon)
      assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/png'], icon)
      const one = (await annex.api('GET', `/v1/integrations/${name}`)).json
      assert.deepEqual([one.icon, one.page.icon, one.categories], [icon, icon, byName.get(name).categories])
    }
  })

  it('searches the texts of the deployed version, or only the name without one', async () => {
    write(annex.pluginsDir, 'fleeting', texts('First title', 'Some words.', ['other']))
    await annex.api('POST', '/v1/reload')
    assert.deepEqual(await names({ q: 'first TITLE', category: 'other' }), ['fleeting'])
    write(annex.pluginsDir, 'fleeting', texts('Second title', 'Some words.', ['content']))
    await annex.api('POST', '/v1/reload')
    assert.deepEqual(await names({ q: 'first title' }), [])
    assert.deepEqual(await names({ q: 'second title', category: 'content' }), ['fleeting'])
    const back = await annex.api('POST', '/v1/integrations/fleeting/rollback', { version: 1 })
    assert.equal(back.status, 200, back.text)
    assert.deepEqual(await names({ q: 'first title', category: 'other' }), ['fleeting'])
    rmSync(join(annex.pluginsDir, 'fleeting'), { recursive: true })
    await annex.api('POST', '/v1/reload')
    assert.deepEqual(await names({ q: 'first title' }), [])
    assert.deepEqual(await names({ q: 'FLEET' }), ['fleeting'])
    const listed = await request(annex.url, 'GET', '/v1/integrations?q=fleet', undefined, tokens.home)
    assert.deepEqual(listed.json.items[0].categories, [])
  })
})
