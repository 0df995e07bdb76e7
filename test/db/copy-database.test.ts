// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  copiedTables,
  copyDatabase,
  prepareDestination,
  prepareSource,
  readPages,
} from '../../host/db/copy-database.ts'
import type { Db } from '../../host/db/db.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { isPostgres, rawRows, toSnakeCase } from '../../host/db/sql.ts'
import { fillDatabase } from '../support/filled-database.ts'
import { createEmptyDatabase, noPostgres } from '../support/test-database.ts'

const ignore = () => {}

async function open(t: TestContext, url: string, prepare?: typeof prepareDestination): Promise<Database> {
  const database = await openDatabase(url, '', prepare)
  t.after(database.close)
  return database
}

/** The address of a SQLite file that is not there yet. */
function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'annex-copy-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'annex.sqlite')}`
}

/** The address of an empty PostgreSQL database where tests run on one, else of SQLite. */
async function newDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await createEmptyDatabase()
  t.after(drop)
  return url === '' ? newFile(t) : url
}

/** All rows of all tables. SQLite has no booleans. */
async function dump(db: Db): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {}
  for (const { name, key } of copiedTables) {
    const rows: Record<string, unknown>[] = await db(name)
    const idOf = (row: Record<string, unknown>) =>
      key.map((column) => String(row[column]).padStart(9, '0')).join()
    const plain = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([column, value]) => [
          column,
          typeof value === 'boolean' ? Number(value) : value,
        ]),
      ),
    )
    tables[name] = plain.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
  }
  return tables
}

describe('a copy of a database', () => {
  it('has all rows of all tables, in both directions', async (t) => {
    const first = await open(t, newFile(t))
    await fillDatabase(first.db)
    const middleUrl = await newDatabase(t)
    const middle = await open(t, middleUrl, prepareDestination)
    const copied = await copyDatabase(first.db, middle.db, ignore)
    assert.ok(
      copied.every(({ rows }) => rows > 0),
      'rows are in each table',
    )
    const last = await open(t, newFile(t), prepareDestination)
    assert.deepEqual(await copyDatabase(middle.db, last.db, ignore), copied)
    const [before, there, back] = [await dump(first.db), await dump(middle.db), await dump(last.db)]
    assert.deepEqual(back, there)
    // Apart from the claimed job: see below.
    const { jobs: jobsBefore, ...restBefore } = before
    const { jobs, ...rest } = there
    assert.deepEqual(rest, restBefore)
    assert.deepEqual(jobs?.slice(0, 3), jobsBefore?.slice(0, 3))
  })

  it('knows every table with its primary key', async (t) => {
    const { db } = await open(t, await newDatabase(t))
    const sql = isPostgres(db)
      ? `select tablename as name from pg_tables where schemaname = 'public'`
      : `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`
    const names = (await rawRows<{ name: string }>(db, sql, [])).map(({ name }) => name)
    const notCopied = ['knex_migrations', 'knex_migrations_lock']
    assert.deepEqual(
      [...copiedTables.map(({ name }) => toSnakeCase(name)), ...notCopied].sort(),
      names.sort(),
    )
    if (isPostgres(db)) return
    for (const { name, key } of copiedTables) {
      const columns = await rawRows<{ name: string }>(
        db,
        'select name from pragma_table_info(?) where pk > 0 order by pk',
        [toSnakeCase(name)],
      )
      assert.deepEqual(
        columns.map((column) => column.name),
        key.map(toSnakeCase),
        name,
      )
    }
  })

  it('gives back the claims of the source’s hosts', async (t) => {
    const from = await open(t, newFile(t))
    await fillDatabase(from.db)
    const to = await open(t, await newDatabase(t), prepareDestination)
    await copyDatabase(from.db, to.db, ignore)
    assert.equal((await from.db('jobs').where({ id: 'job_4' }).first()).state, 'running')
    const job = await to.db('jobs').where({ id: 'job_4' }).first()
    assert.deepEqual(
      [job.state, job.leaseId, job.leaseUntil, job.hostId, job.claimedAt, job.attempt, job.interruptions],
      ['due', null, null, null, null, 0, 1],
    )
  })

  it('continues the numbers of log lines and receipts', async (t) => {
    const from = await open(t, newFile(t))
    await fillDatabase(from.db)
    const to = await open(t, await newDatabase(t), prepareDestination)
    await copyDatabase(from.db, to.db, ignore)
    const line = { at: 1, integration: 'echo', level: 'info', text: 'new' }
    const [stored] = await to.db('logs').insert(line).returning('id')
    assert.equal(stored.id, 1_001)
  })

  it('reports the progress of each table', async (t) => {
    const from = await open(t, newFile(t))
    await fillDatabase(from.db)
    const to = await open(t, newFile(t), prepareDestination)
    const told: unknown[] = []
    await copyDatabase(from.db, to.db, (progress) => told.push(progress))
    assert.deepEqual(
      told.filter((progress) => (progress as { table: string }).table === 'logs'),
      [400, 800, 1_000].map((copied) => ({ table: 'logs', rows: 1_000, copied })),
    )
  })

  it('reads a large table in pages of 8 MiB, and a larger row alone', async (t) => {
    const { db } = await open(t, await newDatabase(t))
    const sizes = [3, 3, 3, 20, 1, 1].map((mib) => mib * 1024 * 1024)
    for (const [n, size] of sizes.entries())
      await db('bodies').insert({ id: `body_${n}`, body: 'é'.repeat(size / 2) })
    const pages: string[][] = []
    for await (const page of readPages(db, { name: 'bodies', key: ['id'], texts: ['id', 'body'] })) {
      pages.push(page.map(({ id }) => String(id)))
    }
    assert.deepEqual(pages, [['body_0', 'body_1'], ['body_2'], ['body_3'], ['body_4', 'body_5']])
  })

  it('excludes rows that are stored during the copy', { skip: noPostgres }, async (t) => {
    const from = await open(t, await newDatabase(t))
    await fillDatabase(from.db)
    const to = await open(t, newFile(t), prepareDestination)
    const event = { id: 'evt_late', organizationId: 'org_1', type: 'told', payload: '{}', receivedAt: 1 }
    let storing: Promise<unknown> | undefined
    const copied = await copyDatabase(from.db, to.db, () => {
      storing ??= from.db('events').insert(event)
    })
    await storing
    assert.equal(copied.find(({ table }) => table === 'events')?.rows, 2)
    assert.equal(await to.db('events').where({ id: 'evt_late' }).first(), undefined)
  })
})

describe('a database cannot be copied', () => {
  /** The destination is empty after each. */
  async function assertRefused(
    t: TestContext,
    spoil: (db: Db) => Promise<unknown>,
    message: RegExp,
  ): Promise<void> {
    const from = await open(t, newFile(t))
    await fillDatabase(from.db)
    await spoil(from.db)
    const to = await open(t, await newDatabase(t), prepareDestination)
    await assert.rejects(copyDatabase(from.db, to.db, ignore), { code: 'conflict', message })
    for (const { name } of copiedTables) assert.deepEqual(await to.db(name), [])
  }

  it('with a broken foreign key', (t) =>
    assertRefused(
      t,
      async (db) => {
        await db.raw('pragma foreign_keys = off')
        await db('installations').where({ id: 'inst_2' }).update({ organizationId: 'org_gone' })
      },
      /^FROM: installations inst_2 refers to a row of organizations that is not there \(foreign keys that are broken: 1\)\./,
    ))

  it('with U+0000 in a text, which PostgreSQL refuses', { skip: noPostgres }, (t) =>
    assertRefused(
      t,
      (db) => db('attempts').update({ responseBody: 'a\0b' }),
      /^FROM: attempts att_1: response_body has U\+0000, which PostgreSQL does not keep\./,
    ),
  )

  it('with a number that is too large for a column of PostgreSQL', { skip: noPostgres }, (t) =>
    assertRefused(
      t,
      (db) => db('versions').update({ number: 3_000_000_000 }),
      /^TO: versions: the rows ver_1 to ver_1 cannot be stored \(value "3000000000" is out of range/,
    ),
  )

  it('into a database with rows', async (t) => {
    const url = await newDatabase(t)
    const { db, close } = await openDatabase(url, '')
    await db('keyChecks').insert({ purpose: 'secrets', sealed: 'the same' })
    await close()
    await assert.rejects(openDatabase(url, '', prepareDestination), {
      code: 'conflict',
      message: 'A copy needs an empty database. This one has rows in the table key_checks.',
    })
  })

  it('without tables, or with those of an older or newer Annex', async (t) => {
    const url = newFile(t)
    await assert.rejects(openDatabase(url, '', prepareSource), {
      code: 'conflict',
      message: 'The database has no tables of Annex.',
    })
    const { db } = await open(t, url)
    const last = await db('knexMigrations').orderBy('id', 'desc').first()
    await db('knexMigrations').where({ id: last.id }).delete()
    for (const prepare of [prepareSource, prepareDestination]) {
      await assert.rejects(openDatabase(url, '', prepare), {
        code: 'conflict',
        message: /those of an older Annex\. Bring them up to date: `npx annex migrate`/,
      })
    }
    await db('knexMigrations').insert([last, { name: '999-future', batch: 2, migrationTime: new Date() }])
    for (const prepare of [prepareSource, prepareDestination]) {
      await assert.rejects(openDatabase(url, '', prepare), { code: 'schema_newer' })
    }
  })

  it('while an Annex is connected to it', { skip: noPostgres }, async (t) => {
    const url = await newDatabase(t)
    const { db, close } = await openDatabase(url, '')
    await db('events').first()
    const refused = { code: 'conflict', message: /^An Annex is connected to the database\. Stop it/ }
    for (const prepare of [prepareSource, prepareDestination]) {
      await assert.rejects(openDatabase(url, '', prepare), refused)
    }
    await close()
    await open(t, url, prepareSource)
  })
})
