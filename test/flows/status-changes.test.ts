// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { type PluginSource, writePlugin } from '../support/plugin-folder.ts'

/** The setup of a site needs the key, and fails without it. */
const plugin = (required: string[], more: Partial<PluginSource> = {}): PluginSource => ({
  script: `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: () => new Response('ok'),
  events: {
    site_installation_setup: (_event, { environment }) => {
      if (!environment.siteInstallation.configuration.key) throw new Error('no key')
    },
  },
})`,
  more: `
configurations:
  site:
    properties:
      key: { type: string, title: Key }
      team: { type: string, title: Team }
    required: [${required.join(', ')}]`,
  ...more,
})

describe('the status of a level', () => {
  let annex: Annex
  let account: string
  let site: string
  before(async () => {
    annex = await startAnnex({ plugins: { states: plugin(['key']) } })
    const installed = await installSample(annex, 'states', 'site')
    site = installed.path
    account = site.replace(/\/sites\/.*$/, '')
  })
  after(() => annex.close())

  const list = async (level: string, query = ''): Promise<Json> => {
    const { status, json, text } = await annex.api('GET', `${level}/status-changes${query}`)
    assert.equal(status, 200, text)
    return json
  }
  const short = ({ from, to, why }: Json) => `${from} > ${to}: ${why}`
  const changes = async (level: string): Promise<string[]> => (await list(level)).items.map(short)
  const newest = async (level: string): Promise<Json> => (await list(level)).items[0]
  const api = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, json, text } = await annex.api(method, path, body)
    assert.ok(status < 300, `${method} ${path}: ${text}`)
    return json
  }

  it('is kept with its cause from the install on', async () => {
    assert.deepEqual(await changes(account), ['pending > active: set_up', 'null > pending: installed'])
    const [setUp, installed] = (await list(account)).items
    assert.equal(installed.by.kind, 'token')
    assert.match(installed.request, /^req_/)
    assert.equal(installed.version, 1)
    assert.deepEqual(setUp.by, { kind: 'script', id: account.split('/').at(-1) })
    const { items } = await until(
      () => api('GET', `/v1/receipts?event=${setUp.event}`),
      (answer) => answer.items.length > 0,
    )
    assert.equal(items[0].request, setUp.request, 'the dispatch that handled the setup event')
  })

  it('says why a setup has failed', async () => {
    const failed = await until(
      () => newest(site),
      (change) => change.why === 'setup_failed',
    )
    assert.equal(short(failed), 'pending > pending: setup_failed')
    assert.match(
      failed.reason,
      /needs settings that are not there yet: key, team\. The next edit runs it again\./,
    )
    assert.ok(failed.reason.includes(failed.request), failed.reason)
  })

  it('changes with the settings, and names those that are missing', async () => {
    await api('PUT', `${site}/configuration/key`, { value: 'a' })
    await until(
      () => changes(site),
      ([first]) => first === 'pending > active: settings',
    )
    await api('PUT', `${site}/configuration/team`, { value: 'blue' })
    await api('DELETE', `${site}/configuration/key`)
    const pending = await newest(site)
    assert.equal(short(pending), 'active > pending: settings')
    assert.match(pending.reason, /key/)
    await api('PUT', `${site}/configuration/key`, { value: 'b' })
    await until(
      () => changes(site),
      ([first]) => first === 'pending > active: settings',
    )
    assert.equal((await list(account)).count, 2, 'the account has not changed')
  })

  it('changes by a pause and a resume, each kept once', async () => {
    await api('POST', `${account}/pause`)
    assert.equal((await annex.api('POST', `${account}/pause`)).status, 409)
    await api('POST', `${account}/resume`)
    const [resumed, paused] = (await list(account)).items
    assert.deepEqual([short(resumed), short(paused)], ['paused > active: resumed', 'active > paused: paused'])
    assert.equal(paused.by.kind, 'token')
    assert.equal(paused.reason, undefined)
  })

  it('changes by a version that needs more, and by the way back', async () => {
    await api('DELETE', `${site}/configuration/team`)
    writePlugin(annex.pluginsDir, 'states', plugin(['key', 'team']))
    await api('POST', '/v1/reload')
    const unfit = await newest(site)
    assert.equal(short(unfit), 'active > pending: version')
    assert.deepEqual([unfit.version, unfit.by], [2, { kind: 'system', id: null }])
    assert.match(unfit.reason, /team/)
    await api('POST', '/v1/integrations/states/rollback', { version: 1 })
    const back = await newest(site)
    assert.equal(short(back), 'pending > active: version')
    assert.deepEqual([back.version, back.by.kind], [1, 'token'])
    await api('POST', '/v1/integrations/states/unpin')
    assert.equal(short(await newest(site)), 'active > pending: version')
    await api('PUT', `${site}/configuration/team`, { value: 'red' })
    await until(
      () => changes(site),
      ([first]) => first === 'pending > active: settings',
    )
  })

  it('changes by an agreement, and not while the version waits', async () => {
    const before = await list(site)
    const source = plugin(['key', 'more'], { scopes: ['site:views:read'] })
    const more = `${source.more}`.replace(
      'properties:',
      'properties:\n      more: { type: string, title: More }',
    )
    writePlugin(annex.pluginsDir, 'states', { ...source, more })
    await api('POST', '/v1/reload')
    assert.deepEqual(await list(site), before)
    await api('POST', `${account}/agreement`, await agreementTo(annex, 'states'))
    const agreed = await newest(site)
    assert.equal(short(agreed), 'active > pending: agreement')
    assert.match(agreed.reason, /more/)
  })

  it('changes when the plugin folder goes, and when it is there again', async () => {
    const folder = join(annex.pluginsDir, 'states')
    const away = `${annex.pluginsDir}-away`
    renameSync(folder, away)
    await api('POST', '/v1/reload')
    assert.equal(short(await newest(site)), 'pending > active: retired')
    const { count } = await list(site)
    await api('POST', '/v1/reload')
    assert.equal((await list(site)).count, count)
    renameSync(away, folder)
    await api('POST', '/v1/reload')
    assert.equal(short(await newest(site)), 'active > pending: version')
    assert.equal((await list(site)).count, count + 1)
  })

  it('is listed in pages, for a reader too, and for no other organization', async () => {
    const whole = await list(site)
    const pages: Json[] = []
    for (let query = '?limit=3'; query !== ''; ) {
      const page = await list(site, query)
      pages.push(...page.items)
      query = page.next ? `?limit=3&page=${page.next.page}` : ''
    }
    assert.deepEqual(pages, whole.items)
    const tokenOf = async (organization: string, role: string): Promise<string> =>
      (await api('POST', `/v1/orgs/${organization}/tokens`, { role })).token
    await api('POST', '/v1/orgs', { subdomain: 'elsewhere', title: 'Elsewhere' })
    const ask = async (token: string) => annex.api('GET', `${site}/status-changes`, undefined, token)
    assert.deepEqual((await ask(await tokenOf('home', 'reader'))).json, whole)
    assert.equal((await ask(await tokenOf('elsewhere', 'admin'))).status, 404)
  })

  it('begins anew after an uninstall', async () => {
    await api('DELETE', site)
    const id = site.split('/').at(-1)
    await until(
      () => annex.api('POST', `${account}/sites`, { site: id }),
      ({ status }) => status < 300,
    )
    assert.equal((await changes(site)).at(-1), 'null > pending: installed')
  })
})

describe('a status that no host saw change', () => {
  it('is noted by the next start, with the key that is missing', async (context) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'annex-test-'))
    context.after(() => rmSync(dataDir, { recursive: true, force: true }))
    const start = () => startAnnex({ dataDir, plugins: { states: plugin([]) } })
    const first = await start()
    const { path } = await installSample(first, 'states', 'site', { key: 'a' })
    await until(
      async () => (await first.api('GET', path)).json,
      ({ status }) => status === 'active',
    )
    await first.close()
    const setSettings = async (configuration: string) => {
      const { db, close } = await openDatabase('', dataDir)
      await db('levels').where({ kind: 'site' }).update({ configuration })
      await close()
    }
    const newestAfterStart = async (why: string): Promise<Json> => {
      const annex = await start()
      const { items } = await until(
        async () => (await annex.api('GET', `${path}/status-changes`)).json,
        (answer) => answer.items[0].why === why,
      )
      await annex.close()
      return items[0]
    }
    await setSettings(createSecretBox(Buffer.alloc(32, 7)).seal('{"key":"lost"}'))
    const lost = await newestAfterStart('secret_key')
    assert.deepEqual([lost.from, lost.to, lost.by.kind], ['active', 'pending', 'system'])
    assert.match(lost.reason, /another SECRET_KEY/)
    await setSettings('{}')
    const back = await until(
      () => newestAfterStart('secret_key'),
      ({ to }) => to === 'active',
    )
    assert.equal(back.from, 'pending')
  })
})
