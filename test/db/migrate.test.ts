// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import pg from 'pg'
import { migrations, stepNames } from '../../host/db/migrate.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { listTables } from '../../host/db/sql.ts'
import { until } from '../support/annex.ts'
import { startAnnexProcess } from '../support/annex-process.ts'
import { createEmptyDatabase, noPostgres, type TestDatabase } from '../support/test-database.ts'

describe('the tables of the database', () => {
  let folder: string
  let made: TestDatabase
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-migrate-'))
    made = await createEmptyDatabase()
  })
  afterEach(async () => {
    await made.drop()
    rmSync(folder, { recursive: true })
  })

  const stepsHad = async () => {
    const { db, close } = await openDatabase(made.url, folder)
    const names = await db('knex_migrations').orderBy('id').pluck('name')
    await close()
    return names
  }

  it('are created once by five hosts that start at once', { skip: noPostgres }, async () => {
    const opened = await Promise.all([1, 2, 3, 4, 5].map(() => openDatabase(made.url, folder)))
    await Promise.all(opened.map(({ close }) => close()))
    assert.deepEqual(await stepsHad(), stepNames)
  })

  it('are refused by a database with an encoding other than UTF-8', { skip: noPostgres }, async () => {
    const admin = new pg.Client(made.url)
    await admin.connect()
    const name = `latin_${randomUUID().replaceAll('-', '')}`
    await admin.query(
      `create database ${name} template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`,
    )
    try {
      const url = new URL(made.url)
      url.pathname = `/${name}`
      await assert.rejects(openDatabase(url.href, folder), {
        code: 'settings_invalid',
        message:
          /^DATABASE_URL: the database has the encoding LATIN1, .* needs UTF8\. Make another one: CREATE DATABASE/,
      })
      const looking = new pg.Client(url.href)
      await looking.connect()
      const { rows } = await looking.query(
        "select count(*) as count from pg_tables where schemaname = 'public'",
      )
      await looking.end()
      assert.equal(Number(rows[0].count), 0)
    } finally {
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    }
  })

  it('need no lock of a host that was killed during a migration', { skip: noPostgres }, async () => {
    const watching = await openDatabase(made.url, folder)
    // As a migration that is cut off leaves it: a connection that is gone, in the middle of its transaction.
    const cut = new pg.Client(made.url)
    cut.on('error', () => {})
    await cut.connect()
    await cut.query(
      'begin; select pg_advisory_xact_lock(7140366198); update knex_migrations_lock set is_locked = 1',
    )
    const waiting = openDatabase(made.url, folder)
    const waits = () => watching.db('pg_locks').where({ locktype: 'advisory', granted: false }).count()
    await until(waits, ([row]) => Number(row?.count) === 1)
    const { rows } = await cut.query('select pg_backend_pid() as pid')
    await watching.db.raw('select pg_terminate_backend(?)', [rows[0].pid])
    await (await waiting).close()
    await watching.close()
  })

  it('are all gone after a rollback, and can be created again', async () => {
    const { db, close } = await openDatabase(made.url, folder)
    await db.migrate.rollback({ migrationSource: migrations, tableName: 'knex_migrations' }, true)
    assert.deepEqual(await db('knex_migrations').pluck('name'), [])
    await close()
    assert.deepEqual(await stepsHad(), stepNames)
  })

  it('are refused by an older host, with exit code 5', async () => {
    const { db, close } = await openDatabase(made.url, folder)
    await db('knex_migrations').insert({ name: '999-future', batch: 2, migration_time: new Date() })
    await close()
    await assert.rejects(openDatabase(made.url, folder), {
      code: 'schema_newer',
      message: /a newer Annex: they have had 999-future, and this one knows no step after \d{3}-[\w-]+\./,
    })
    await assert.rejects(
      startAnnexProcess(folder, join(folder, 'plugins'), { DATABASE_URL: made.url }),
      /annex ended with 5:\nannex: The tables of the database are those of a newer Annex/,
    )
  })

  it('have no index of columns that change when a delivery is settled', {
    skip: noPostgres,
  }, async () => {
    const { db, close } = await openDatabase(made.url, folder)
    const definitions: string[] = await db('pg_indexes').where({ tablename: 'deliveries' }).pluck('indexdef')
    await close()
    assert.ok(definitions.some((definition) => definition.includes('deliveries_failed')))
    for (const definition of definitions) assert.doesNotMatch(definition, /\b(state|attempts|finished_at)\b/)
  })

  it('are not created beside tables of another program', async () => {
    const other = await openDatabase(made.url, folder, async () => {})
    await other.db.schema.createTable('music', (table) => table.text('id'))
    const refused = {
      code: 'settings_invalid',
      message: /tables of another program \(music\).* Give Annex an empty database/,
    }
    await assert.rejects(openDatabase(made.url, folder), refused)
    // As another program leaves it that uses Knex, too.
    await other.db.schema.createTable('knex_migrations', (table) => {
      table.increments('id')
      table.text('name')
    })
    await other.db('knex_migrations').insert({ name: '20240101_music.js' })
    await assert.rejects(openDatabase(made.url, folder), refused)
    const names = await listTables(other.db)
    await other.db.schema.dropTable('music').dropTable('knex_migrations')
    await other.close()
    assert.deepEqual(names, ['knex_migrations', 'music'])
    assert.deepEqual(await stepsHad(), stepNames)
  })

  it('are created beside tables of extensions, other schemas and the operator', {
    skip: noPostgres,
  }, async () => {
    const admin = new pg.Client(made.url)
    await admin.connect()
    await admin.query(
      'create schema other; create table other.music (id text); create view seen as select 1 as one',
    )
    // As PostGIS has one.
    await admin.query('create extension if not exists pg_trgm; create table of_extension (id text)')
    await admin.query('alter extension pg_trgm add table of_extension')
    assert.deepEqual(await stepsHad(), stepNames)
    await admin.query('create table notes (id text)')
    assert.deepEqual(await stepsHad(), stepNames)
    await admin.end()
  })

  it('are not created without the right, and the error names it', {
    skip: noPostgres,
  }, async () => {
    const admin = new pg.Client(made.url)
    await admin.connect()
    const role = `guest_${randomUUID().replaceAll('-', '')}`
    await admin.query(`revoke create on schema public from public; create role ${role} login`)
    const url = new URL(made.url)
    url.username = role
    try {
      await assert.rejects(openDatabase(url.href, folder), {
        code: 'settings_invalid',
        message: /^DATABASE_URL: .*may not make tables there \(42501\)\. Let it: GRANT CREATE/,
      })
    } finally {
      await admin.query(`drop role ${role}`)
      await admin.end()
    }
  })

  it('of a build before 0.1.0 are refused, with the next step', async () => {
    const { db, close } = await openDatabase(made.url, folder)
    await db('knex_migrations').update({ name: '001-records' }).where({ name: '001-tables' })
    await close()
    await assert.rejects(openDatabase(made.url, folder), {
      code: 'schema_older',
      message: /a build before 0\.1\.0, .* Start with a new DATA_DIR, or an empty database\.$/,
    })
  })
})
