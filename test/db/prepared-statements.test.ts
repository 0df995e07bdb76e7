import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Knex } from 'knex'
import sqlite3 from 'sqlite3'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { transact } from '../../host/db/sql.ts'

describe('statements of SQLite that stay prepared', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-prepared-'))
  const prepared: string[] = []
  const { prepare } = sqlite3.Database.prototype
  let database: Database
  before(async () => {
    sqlite3.Database.prototype.prepare = function (this: sqlite3.Database, sql: string, ...rest: never[]) {
      prepared.push(sql)
      return prepare.call(this, sql, ...rest)
    } as typeof prepare
    database = await openDatabase('', dataDir)
    await database.db.raw('create table notes (id integer primary key, text text unique)')
  })
  after(async () => {
    await database.close()
    sqlite3.Database.prototype.prepare = prepare
    rmSync(dataDir, { recursive: true })
  })

  const timesPrepared = (sql: string) => prepared.filter((one) => one === sql).length
  const insert = (db: Knex, text: unknown) => db.raw('insert into notes (text) values (?)', [text as string])
  const texts = async () => (await database.db('notes').orderBy('id')).map(({ text }) => text)

  it('are prepared once for many runs with other values', async () => {
    const sql = 'select ? as value, ? as other'
    for (const value of [1, 'ä', null, 2.5]) {
      const [row] = await database.db.raw(sql, [value, 'x'])
      assert.deepEqual(row, { value, other: 'x' })
    }
    assert.equal(timesPrepared(sql), 1)
  })

  it('run again after SQLite has refused a value', async () => {
    await insert(database.db, 'one')
    await assert.rejects(insert(database.db, 'one'), /UNIQUE/)
    await insert(database.db, 'two')
    assert.deepEqual(await texts(), ['one', 'two'])
  })

  it('are refused each time when they are wrong, and hold nothing up', async () => {
    for (let n = 0; n < 3; n++) await assert.rejects(database.db.raw('select from'), /syntax error/)
    const [refused, answered] = await Promise.allSettled([
      database.db.raw('select missing from notes'),
      database.db.raw('select 1 as one'),
    ])
    assert.equal(refused.status, 'rejected')
    assert.deepEqual(answered, { status: 'fulfilled', value: [{ one: 1 }] })
  })

  it('know the columns that a table has got or lost since, also by another connection', async () => {
    const all = () => database.db.raw('select * from notes where id = 1')
    assert.deepEqual(await all(), [{ id: 1, text: 'one' }])
    await database.db.raw('alter table notes add column more text')
    assert.deepEqual(await all(), [{ id: 1, text: 'one', more: null }])
    const other = await openDatabase('', dataDir)
    await other.db.raw('alter table notes drop column more')
    await other.close()
    assert.deepEqual(await all(), [{ id: 1, text: 'one' }])
  })

  it('tell how many rows each run has changed', async () => {
    const change = (id: number) =>
      database
        .db('notes')
        .where({ id })
        .update({ text: `changed ${id}` })
    assert.deepEqual([await change(1), await change(99), await change(2)], [1, 0, 1])
    assert.deepEqual(await Promise.all([change(1), change(99)]), [1, 0])
  })

  it('leave nothing behind of a transaction that fails with statements still waiting', async () => {
    const before = await texts()
    const failing = transact(database.db, (transaction) =>
      Promise.all([
        insert(transaction, 'a'),
        transaction.raw('select missing from notes'),
        ...Array.from({ length: 20 }, (_none, n) => insert(transaction, `b${n}`)),
      ]),
    )
    await assert.rejects(failing, /no such column/)
    assert.deepEqual(await texts(), before)
  })

  it('leave nothing open that keeps a transaction from its commit', async () => {
    await transact(database.db, async (transaction) => {
      await transaction.raw(`explain update notes set text = 'never'`)
      await transaction('notes').where({ id: 1 }).update({ text: 'again' }).returning('text')
      // Knex does not ask for its row.
      await transaction('notes').where({ id: 2 }).del().returning('text')
    })
    assert.deepEqual(await texts(), ['again'])
  })

  it('are prepared anew after a large value, which would stay in memory', async () => {
    const sql = 'select length(?) as length'
    for (const length of [10, 300_000, 10]) {
      assert.deepEqual(await database.db.raw(sql, ['x'.repeat(length)]), [{ length }])
    }
    assert.equal(timesPrepared(sql), 2)
  })

  it('are at most 64: those that were used longest ago are dropped', async () => {
    const sql = (n: number) => `select ${n} as n`
    for (let n = 0; n < 64; n++) assert.deepEqual(await database.db.raw(sql(n)), [{ n }])
    await database.db.raw(sql(0))
    await database.db.raw(sql(64))
    for (const n of [0, 1]) assert.deepEqual(await database.db.raw(sql(n)), [{ n }])
    assert.deepEqual([timesPrepared(sql(0)), timesPrepared(sql(1))], [1, 2])
  })
})
