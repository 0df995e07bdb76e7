import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { copiedTables } from '../../host/db/copy-database.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

/** Shows its settings and offers a choice. A setup that follows an edit fails, so that its job stays. */
const keeper = `
import { createIntegration } from '@annex/runtime'
const fail = ({ previous }) => { if (Object.keys(previous?.configuration ?? {}).length > 0) throw new Error('no') }
export default createIntegration({
  fetch: (request, { environment }) => new URL(request.url).pathname.endsWith('/choices')
    ? Response.json([{ value: ['canary', 'choice'].join('-'), label: ['canary', 'label'].join('-') }])
    : Response.json([environment.installation, environment.siteInstallation ?? environment.spaceInstallation]
      .map((level) => level?.configuration)),
  events: {
    installation_setup: fail, site_installation_setup: fail, space_installation_setup: fail,
  },
})`

const note = '{ properties: { note: { type: string } } }'
const more = `
configurations:
  account:
    properties:
      note: { type: string }
      choice: { type: string, completion_url: /choices }
  site: ${note}
  space: ${note}`

describe('settings in the database', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-encrypted-'))
  let test: TestDatabase
  let annex: Annex
  let database: Database
  let paths: Record<'account' | 'site' | 'space', string>
  let ids: { id: string; other: string }
  before(async () => {
    test = await createTestDatabase()
    annex = await startAnnex({
      sandboxes: 'processes',
      dataDir,
      flags: { DATABASE_URL: test.url, DELIVERY_RETRY_SECONDS: '600' },
      plugins: { keeper: { script: keeper, more }, other: { script: keeper, more } },
    })
    const { id, path } = await installSample(annex, 'keeper')
    ids = { id, other: (await installSample(annex, 'other', 'site', { note: 'canary-other' })).id }
    const { site, space } = annex.server.samples
    await annex.api('POST', `${path}/sites`, { site })
    await annex.api('POST', `${path}/spaces`, { space })
    paths = { account: path, site: `${path}/sites/${site}`, space: `${path}/spaces/${space}` }
    database = await openDatabase(test.url, dataDir)
  })
  after(async () => {
    await database?.close()
    await annex?.close()
    await test?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** All bytes of the files, and on PostgreSQL all rows. */
  async function readAll(): Promise<string> {
    if (test.url === '') {
      const files = ['annex.sqlite', 'annex.sqlite-wal'].map((name) => join(dataDir, name)).filter(existsSync)
      return files.map((file) => readFileSync(file, 'latin1')).join('\n')
    }
    const tables = await Promise.all(copiedTables.map(({ name }) => database.db(name)))
    return JSON.stringify(tables)
  }
  const jobs = async (state: string): Promise<Json[]> =>
    (await annex.api('GET', `/v1/jobs?state=${state}`)).json.items
  const shownBy = async (path: string): Promise<Json> => {
    const { urls } = (await annex.api('GET', path)).json
    return (await fetch(urls.publicEndpoint)).json()
  }

  it('leave no plain text behind: in levels, waiting jobs, audit entries and labels', async () => {
    for (const [level, path] of Object.entries(paths)) {
      for (const edit of ['first', 'second']) {
        const value = `canary-${edit}-${level}`
        const configuration = { note: value, ...(level === 'account' && { choice: 'canary-choice' }) }
        assert.equal((await annex.api('PATCH', path, { configuration })).status, 200)
      }
    }
    await annex.api('GET', `${paths.account}/configuration/choice/options?value=canary-choice`)
    assert.deepEqual((await annex.api('GET', paths.account)).json.labels, { choice: 'canary-label' })
    const waiting = await until(
      () => jobs('due'),
      (items) => items.filter(({ attempts }) => attempts > 0).length >= 3,
    )
    const all = await readAll()
    assert.ok(all.includes(ids.id), 'the bytes are those of the database')
    assert.equal(/canary-(first|second|choice|label|other)/.exec(all)?.[0], undefined)

    const payloads = await Promise.all(
      waiting.map(async ({ id }) => (await annex.api('GET', `/v1/jobs/${id}`)).json.payload),
    )
    const seen = payloads.map(({ previous }) => previous?.configuration.note)
    assert.ok(seen.includes('canary-first-account') && seen.includes('canary-first-site'), `${seen}`)
    const { items } = (await annex.api('GET', `/v1/audit?action=settings.change&subject=${ids.id}`)).json
    assert.equal(items[0].before.configuration.note, 'canary-first-account')
    assert.equal(items[0].after.configuration.note, 'canary-second-account')
  })

  it('reach the script of their level', async () => {
    const account = { note: 'canary-second-account', choice: 'canary-choice' }
    assert.deepEqual((await shownBy(paths.account))[0], account)
    assert.deepEqual(await shownBy(paths.site), [account, { ...account, note: 'canary-second-site' }])
    assert.deepEqual(await shownBy(paths.space), [account, { ...account, note: 'canary-second-space' }])
  })

  describe('of a level, encrypted with another key,', () => {
    const lost = createSecretBox(Buffer.alloc(32, 7)).seal('{"note":"lost"}')
    const message =
      /The settings of inst_\S+ in the site site_\S+ were encrypted with another SECRET_KEY. Set /
    before(async () => {
      await database.db('levels').where({ installationId: ids.id, kind: 'site' }).update({
        configuration: lost,
      })
      await annex.api('PATCH', paths.account, { externalIds: ['forget-the-cache'] })
    })

    it('fail requests of that level alone, with its ids and the next step', async () => {
      const { json } = await annex.api('GET', paths.site)
      assert.deepEqual([json.status, json.configuration], ['pending', {}])
      assert.match(json.problems[0].message, message)
      const answer = await fetch(json.urls.publicEndpoint)
      assert.equal(answer.status, 503)
      assert.match(await answer.text(), /settings_unreadable/)
      assert.equal((await shownBy(paths.account))[0].note, 'canary-second-account')
      assert.equal((await shownBy(paths.space))[1].note, 'canary-second-space')
      const lines = await until(
        async () => (await annex.api('GET', `/v1/logs?installation=${ids.id}`)).json.items,
        (items: Json[]) => items.some(({ text }) => message.test(text)),
      )
      assert.ok(lines.length > 0)
    })

    it('do not affect lists and other installations', async () => {
      const { status, json } = await annex.api('GET', '/v1/installations')
      assert.deepEqual([status, json.items.length], [200, 2])
      const sites = await annex.api('GET', `${paths.account}/sites`)
      assert.deepEqual([sites.status, sites.json.items[0].status], [200, 'pending'])
      const site = annex.server.samples.site
      const other = `/v1/integrations/other/installations/${ids.other}/sites/${site}`
      assert.equal((await shownBy(other))[1].note, 'canary-other')
    })

    it('can be set again by a person', async () => {
      assert.equal(
        (await annex.api('PATCH', paths.site, { configuration: { note: 'canary-third' } })).status,
        200,
      )
      assert.equal((await shownBy(paths.site))[1].note, 'canary-third')
    })

    it('do not block an uninstall, which then calls no script', async () => {
      await database.db('levels').where({ installationId: ids.id }).update({ configuration: lost })
      const { status } = await annex.api('DELETE', paths.account)
      assert.ok(status < 300, `${status}`)
      assert.equal((await annex.api('GET', paths.account)).status, 404)
      assert.deepEqual(await database.db('levels').where({ installationId: ids.id }), [])
    })
  })
})
