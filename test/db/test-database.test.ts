// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { migrate, stepNames, stepsHad } from '../../host/db/migrate.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { createEmptyDatabase, createTestDatabase, noPostgres } from '../support/test-database.ts'

/** Only a run has a template on PostgreSQL, because it drops the template afterwards. */
const noTemplate =
  noPostgres === false &&
  process.env.TEST_TEMPLATE_DATABASE === undefined &&
  'node test/run.ts has the template'

async function open(
  context: TestContext,
  create: typeof createTestDatabase,
  prepare: typeof migrate = async () => {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const { url, drop } = await create(folder)
  context.after(drop)
  const database = await openDatabase(url, folder, prepare)
  context.after(database.close)
  return database.db
}

describe('the database of a test', () => {
  it('has all tables before a migration, also when several are created at once', {
    skip: noTemplate,
  }, async (t) => {
    const opened = await Promise.all([1, 2, 3, 4].map(() => open(t, createTestDatabase)))
    for (const db of opened) assert.deepEqual(await stepsHad(db), stepNames)
  })

  it('shares no row with another test database', async (t) => {
    const one = await open(t, createTestDatabase, migrate)
    const other = await open(t, createTestDatabase, migrate)
    await one('organizations').insert({ id: 'org_1', subdomain: 'home', title: '', createdAt: 0 })
    assert.equal((await one('organizations').select()).length, 1)
    assert.deepEqual(await other('organizations').select(), [])
  })

  it('has no tables if a test asks for an empty one', async (t) => {
    assert.equal(await stepsHad(await open(t, createEmptyDatabase)), undefined)
  })
})
