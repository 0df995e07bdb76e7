// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { isInstallKey } from '../../host/access/install-keys.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import type { Db } from '../../host/db/db.ts'
import { migrations } from '../../host/db/migrate.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { hasOperatorAccount, insertAccount } from '../../host/db/queries/accounts.ts'
import { findInstallation } from '../../host/db/queries/installations.ts'
import { findIntegration, listVisibleIntegrations } from '../../host/db/queries/integrations.ts'
import { findPlaceLevel } from '../../host/db/queries/levels.ts'
import { bindMember, findMemberById, listMemberships } from '../../host/db/queries/members.ts'
import { useSealer } from '../../host/db/sealed-json.ts'
import { usableSettings } from '../../host/installations/effective-settings.ts'
import { toVisibleSettings } from '../../host/installations/level-settings.ts'
import { openEvent, parseSubject, secretsOfEvent, toSubject } from '../../host/installations/setup-event.ts'
import { hasTypedHost } from '../../host/installations/typed-hosts.ts'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import type { Property } from '../../schemas/generated/manifest.ts'
import { createManifest } from '../bundle/plugin-folder.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.ts'

const hosts = {
  hook: 'https://hook.example/in',
  choice: 'https://choice.example/in',
  /** A script stored it beside the settings. */
  own: 'https://own.example/in',
}
const box = createSecretBox(Buffer.alloc(32, 3))
const seal = (value: object) => box.seal(JSON.stringify(value))
const text = { type: 'string', title: 'Title', description: 'Text' } as const
const button = { ...text, type: 'button', button_text: 'Go', callback_url: '/oauth' } as const
const manifestWith = (properties: Record<string, Property>) =>
  JSON.stringify(
    normalizeManifest(
      createManifest({
        name: 'ours',
        configurations: {
          account: { properties },
          site: { properties },
          space: { properties, componentId: 'form' },
        },
      }),
    ),
  )
const choice = { ...text, completion_url: '/choices' } as const
const plain = manifestWith({ key: text, login: text, region: text, hook: text, choice })

/** Makes the tables of 0.1.0. */
const makeFirst = async (db: Db): Promise<void> => {
  const [first] = await migrations.getMigrations([])
  assert.ok(first)
  await db.migrate.latest({
    migrationSource: { ...migrations, getMigrations: async () => [first] },
    tableName: 'knex_migrations',
  })
}

/** Pages with the revisions from and up to which a row of them holds. */
const pagesOfFirst = [
  ['person', 1, null],
  ['script', 2, 3],
  ['script', 3, null],
  ['before', 1, 2],
  ['before', 2, null],
  ['several', 2, 4],
  ['several', 4, null],
  ['uninstalled', 5, null],
] as const

async function fill(db: Db): Promise<void> {
  const shared = { createdAt: 1, updatedAt: 1 }
  await db('organizations').insert({ id: 'org_1', subdomain: 'home', title: 'Home', createdAt: 1 })
  await db('members').insert({
    ...{
      id: 'mem_1',
      organizationId: 'org_1',
      email: 'a@example.com',
      name: 'A',
      role: 'operator',
      ...shared,
    },
  })
  for (const [name, visibility] of [
    ['ours', 'unlisted'],
    ['other', 'public'],
  ]) {
    await db('integrations').insert({
      ...{ name, visibility, organizationId: 'org_1', folder: name, versionId: 'ver_2', createdAt: 1 },
      ...{ installKey: `key-of-${name}`, signingSecret: 'sealed' },
    })
  }
  const manifests = [manifestWith({ key: { ...text, secret: true }, login: button, region: text }), plain]
  for (const [index, manifest] of manifests.entries()) {
    const number = index + 1
    const version = { id: `ver_${number}`, integration: 'ours', number, digest: String(number), manifest }
    await db('versions').insert({ ...version, code: '', sourceMap: '', createdAt: 1 })
  }
  const configuration = seal({ key: 'sk-1234567', login: 'token-12345', region: 'eu', ...hosts })
  const level = { status: 'active', configuration, externalIds: '[]', signingSecret: 'sealed', ...shared }
  const label = { label: { value: 'eu', label: 'Europe' } }
  await db('installations').insert({
    ...{ id: 'inst_1', integration: 'ours', organizationId: 'org_1', ...level },
    settingDetails: JSON.stringify({ region: { sealed: seal(label) } }),
  })
  const settingDetails = JSON.stringify({
    login: { sealed: seal({ connection: { since: 1, error: 'gone' } }), error: true },
  })
  await db('installationTargets').insert({
    ...{ installationId: 'inst_1', kind: 'site', targetId: 'site_1', ...level, settingDetails },
  })
  await db('installationTargets').insert({
    ...{ installationId: 'inst_1', kind: 'space', targetId: 'space_1', ...level, settingDetails: '{}' },
  })
  await db('spaces').insert({
    ...{ id: 'space_1', organizationId: 'org_1', slug: 'a', title: 'A', revisionId: 'rev_5', createdAt: 1 },
  })
  const authors = ['mem_1', 'ours', 'mem_1', 'other', 'gone']
  for (const [index, authorId] of authors.entries()) {
    await db('revisions').insert({
      ...{ id: `rev_${index + 1}`, spaceId: 'space_1', number: index + 1, createdAt: 1 },
      ...{ authorType: authorId === 'mem_1' ? 'user' : 'integration', authorId },
    })
  }
  for (const [id, fromRevision, toRevision] of pagesOfFirst) {
    await db('pages').insert({
      ...{ spaceId: 'space_1', id, fromRevision, toRevision, kind: 'document', path: id, position: 1 },
      ...{ title: id, digest: id, markdown: '' },
    })
  }
  const event = {
    ...{ eventId: 'evt_1', type: 'site_installation_setup' },
    previous: { status: 'active', sealed: configuration },
  }
  const subject = {
    level: { kind: 'site', integration: 'ours', installationId: 'inst_1', targetId: 'site_1' },
    event,
  }
  await db('jobs').insert({
    ...{
      id: 'job_1',
      kind: 'event',
      subject: JSON.stringify(subject),
      lane: 'inst_1',
      owner: 'inst_1',
      state: 'waiting',
    },
    ...{ attempt: 0, interruptions: 0, ordered: false, dueAt: 1, position: 1, size: 1, createdAt: 1 },
  })
}

describe('a database of 0.1.0', () => {
  let folder: string
  let made: TestDatabase
  let opened: Awaited<ReturnType<typeof openDatabase>>
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-upgrade-'))
    made = await createEmptyDatabase()
    const old = await openDatabase(made.url, folder, makeFirst)
    await fill(old.db)
    await old.close()
    opened = await openDatabase(made.url, folder)
    useSealer([opened.db, opened.reader], box)
  })
  after(async () => {
    await opened?.close()
    await made?.drop()
    rmSync(folder, { recursive: true })
  })

  it('marks secrets and credentials that a kept version declared', async () => {
    const manifest = JSON.parse(plain)
    const installation = await findInstallation(opened.db, 'inst_1')
    const site =
      installation && (await findPlaceLevel(opened.db, installation, { kind: 'site', placeId: 'site_1' }))
    assert.ok(site)
    const masked = {
      key: '[secret]',
      login: '[secret]',
      region: 'eu',
      hook: hosts.hook,
      choice: hosts.choice,
    }
    assert.deepEqual(toVisibleSettings(manifest, installation), masked)
    assert.deepEqual(toVisibleSettings(manifest, site), masked)
    assert.equal(installation.settingDetails.region?.label?.label, 'Europe')
    assert.equal(site.settingDetails.login?.connection?.error, 'gone')
    assert.equal(installation.configuration.key, 'sk-1234567')
    assert.equal(installation.isUnreadable || site.isUnreadable, false)
  })

  it('keeps members, who have no account until they accept an invitation', async () => {
    const member = await findMemberById(opened.db, 'mem_1')
    assert.deepEqual([member?.email, member?.role, member?.accountId], ['a@example.com', 'operator', null])
    assert.equal(await hasOperatorAccount(opened.db), false, 'a setup token may make the first one')
    const person = { email: 'b@example.com', name: '', password: null, isOperator: false }
    const { id } = await insertAccount(opened.db, person)
    assert.equal(await bindMember(opened.db, 'mem_1', id), true)
    assert.equal(await bindMember(opened.db, 'mem_1', id), false)
    assert.equal(await hasOperatorAccount(opened.db), true)
    assert.deepEqual(await listMemberships(opened.db, id), [
      { member: 'mem_1', role: 'operator', organization: { id: 'org_1', subdomain: 'home', title: 'Home' } },
    ])
  })

  it('marks the settings of the running version, so that a later version loses dropped ones', async () => {
    const installation = await findInstallation(opened.db, 'inst_1')
    const site =
      installation && (await findPlaceLevel(opened.db, installation, { kind: 'site', placeId: 'site_1' }))
    assert.ok(site)
    for (const level of [installation, site]) {
      assert.equal(level.settingDetails.key?.kind, 'setting')
      const dropped = usableSettings(JSON.parse(manifestWith({ region: text })), level)
      assert.deepEqual(dropped, { region: 'eu', own: hosts.own })
      assert.deepEqual(usableSettings(JSON.parse(plain), level), installation.configuration)
    }
  })

  it('marks settings as typed, except choices, values of a script and of a component', async () => {
    const { configurations } = JSON.parse(plain)
    const installation = await findInstallation(opened.db, 'inst_1')
    assert.ok(installation)
    const site = await findPlaceLevel(opened.db, installation, { kind: 'site', placeId: 'site_1' })
    const space = await findPlaceLevel(opened.db, installation, { kind: 'space', placeId: 'space_1' })
    assert.ok(site && space)
    for (const [level, expected] of [
      [installation, ['hook']],
      [site, ['hook']],
      [space, []],
    ] as const) {
      const typed = Object.values(hosts).filter((url) => hasTypedHost(configurations, level, new URL(url)))
      assert.deepEqual(
        typed,
        expected.map((name) => hosts[name]),
        level.kind,
      )
    }
  })

  it('keeps its install links, as hashes of their keys', async () => {
    assert.equal(await opened.db.schema.hasColumn('integrations', 'install_key'), false)
    const rows = await opened.db('installLinks')
    assert.equal(rows.length, 2)
    assert.ok(!JSON.stringify(rows).includes('key-of-'))
    for (const name of ['ours', 'other']) {
      assert.equal(await isInstallKey(opened.db, name, `key-of-${name}`), true)
      assert.equal(
        await isInstallKey(opened.db, name, name === 'ours' ? 'key-of-other' : 'key-of-ours'),
        false,
      )
      assert.equal(await isInstallKey(opened.db, name, undefined), false)
    }
    assert.equal((await findIntegration(opened.db, 'ours'))?.visibility, 'unlisted')
  })

  it('gets search texts and categories of the deployed versions', async () => {
    const find = async (text: string) => {
      const at = { after: undefined, limit: 10 }
      const found = await listVisibleIntegrations(opened.db, undefined, { text }, at)
      return found.map(({ row }) => row.name)
    }
    const { title, description } = JSON.parse(plain)
    assert.deepEqual(await find('OURS'), ['ours'])
    for (const text of [title, description]) assert.deepEqual(await find(text), ['other', 'ours'], text)
  })

  it('begins to keep changes of each status, and to count uses of permissions', async () => {
    const rows = await opened.db('statusChanges').orderBy('kind')
    assert.deepEqual(
      rows.map(({ kind, placeId, number, fromStatus, toStatus, why }) => [
        ...[kind, placeId, number, fromStatus, toStatus, why],
      ]),
      [
        ['account', '', 1, null, 'active', 'recorded'],
        ['site', 'site_1', 1, null, 'active', 'recorded'],
        ['space', 'space_1', 1, null, 'active', 'recorded'],
      ],
    )
    const since = (await findInstallation(opened.db, 'inst_1'))?.usesCountedSince ?? 0
    assert.ok(Math.abs(since - Date.now()) < 600_000, 'and not since the install')
    assert.equal(rows[0].at > 1, true)
  })

  it('knows which scripts wrote its pages, also where a person edited them since', async () => {
    const rows = await opened
      .db('pages')
      .orderBy(['id', 'fromRevision'])
      .select('id', 'fromRevision', 'writtenBy')
    assert.deepEqual(
      rows.map(({ id, fromRevision, writtenBy }) => [id, Number(fromRevision), writtenBy]),
      [
        ['before', 1, null],
        ['before', 2, 'inst_1'],
        ['person', 1, null],
        ['script', 2, 'inst_1'],
        ['script', 3, 'inst_1'],
        ['several', 2, 'inst_1'],
        ['several', 4, 'several'],
        ['uninstalled', 5, 'gone'],
      ],
    )
  })

  it('gets the same marks in waiting setup events', async () => {
    const { subject } = await opened.db('jobs').where({ id: 'job_1' }).first()
    const { level, event } = parseSubject(subject)
    assert.equal('placeId' in level && level.placeId, 'site_1')
    assert.equal(JSON.stringify(toSubject({ level, event })), subject)
    assert.deepEqual(secretsOfEvent(event), ['key', 'login'])
    const { previous } = openEvent(opened.db, event)
    assert.deepEqual(previous, {
      status: 'active',
      configuration: { key: 'sk-1234567', login: 'token-12345', region: 'eu', ...hosts },
    })
  })
})
