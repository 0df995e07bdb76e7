// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createSecretBox, createSigningSecret } from '../../host/access/secret-box.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { createSecretReader, type SecretReader } from '../../host/webhooks/signing-secrets.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const box = createSecretBox(Buffer.alloc(32, 1))
const [first, second, ofSite] = [createSigningSecret(), createSigningSecret(), createSigningSecret()]
const ids = { installation: 'inst_1', site: 'site_1' }
const account = { installationId: ids.installation, signedBy: 'installation' }
const site = { installationId: ids.installation, signedBy: `site:${ids.site}` }

describe('the secrets of a delivery', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-secrets-'))
  let test: TestDatabase
  let database: Database
  let reader: SecretReader
  let nowMs = 0
  before(async () => {
    test = await createTestDatabase(folder)
    database = await openDatabase(test.url, folder)
    await insertRecords(database)
  })
  after(async () => {
    await database?.close()
    await test?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    await store({ signingSecret: box.seal(first), previousSigningSecret: null })
    nowMs = 1_790_000_000_000
    reader = createSecretReader(box, { now: () => nowMs, wall: () => nowMs, after: () => () => {} })
  })

  const store = (columns: object) => database.db('levels').where({ kind: 'account' }).update(columns)
  const find = async (key = account) => (await reader.find(database.db, [key])).of(key)

  it('are those of its level, with the end of the previous secret', async () => {
    const previous = { previousSigningSecret: box.seal(second), previousSecretUntil: 7, firstSecret: 'new' }
    await store(previous)
    const found = await reader.find(database.db, [account, site])
    const overlap = { secret: second, untilMs: 7, isFirst: false }
    assert.deepEqual(found.of(account), { current: first, previous: overlap })
    assert.deepEqual(found.of(site), { current: ofSite })
  })

  it('are missing when the level has been deleted', async () => {
    for (const key of [
      { ...account, installationId: 'inst_none' },
      { ...account, signedBy: 'site:site_none' },
      { ...account, signedBy: `space:${ids.site}` },
    ]) {
      assert.equal(await find(key), undefined)
    }
  })

  it('are cached for a second, unless a rotation or a clock that jumps back ends that', async () => {
    await find()
    await store({ signingSecret: box.seal(second) })
    nowMs += 999
    assert.deepEqual(await find(), { current: first })
    nowMs += 1
    assert.deepEqual(await find(), { current: second })

    await store({ signingSecret: box.seal(first) })
    reader.forget()
    assert.deepEqual(await find(), { current: first })

    await store({ signingSecret: box.seal(second) })
    nowMs -= 3_600_000
    assert.deepEqual(await find(), { current: second })
  })

  it('do not sign when they are too weak', async () => {
    for (const weak of ['', 'whsec_', 'whsec_weak', 'secret']) {
      await store({ signingSecret: box.seal(weak) })
      reader.forget()
      await assert.rejects(find(), {
        code: 'settings_invalid',
        message: /too weak.*rotate-secret inst_1 --ov/,
      })
    }
    const previous = { previousSigningSecret: box.seal('whsec_weak'), previousSecretUntil: nowMs + 1 }
    await store({ signingSecret: box.seal(first), ...previous })
    reader.forget()
    assert.deepEqual(await find(), { current: first }, 'nor in an overlap')
  })

  it('stop no other deliveries when they cannot be decrypted', async () => {
    await store({ signingSecret: createSecretBox(Buffer.alloc(32, 2)).seal(first) })
    const found = await reader.find(database.db, [account, site])
    assert.throws(() => found.of(account), { code: 'settings_invalid', message: /cannot be decrypted/ })
    assert.deepEqual(found.of(site), { current: ofSite })
  })
})

async function insertRecords({ db }: Database): Promise<void> {
  const times = { createdAt: 1, updatedAt: 1 }
  const installed = { status: 'active', configuration: '{}', externalIds: '[]', ...times }
  await db('organizations').insert({ id: 'org_1', subdomain: 'one', title: 'One', createdAt: 1 })
  await db('integrations').insert({
    ...{ name: 'one', organizationId: 'org_1', folder: 'one' },
    ...{ signingSecret: box.seal(first), createdAt: 1 },
  })
  await db('installations').insert({
    ...{ id: ids.installation, integration: 'one', organizationId: 'org_1', createdAt: 1 },
  })
  const level = { installationId: ids.installation, ...installed }
  await db('levels').insert([
    { ...level, kind: 'account', placeId: '', signingSecret: box.seal(first) },
    { ...level, kind: 'site', placeId: ids.site, signingSecret: box.seal(ofSite) },
  ])
}
