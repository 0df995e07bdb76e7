import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { explainStorageError } from '../../host/db/errors.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'

const mebibyte = 2 ** 20

describe('a database of SQLite', () => {
  let folder: string
  let database: Database

  before(async () => {
    // A name that has to be escaped in a URL.
    folder = mkdtempSync(join(tmpdir(), 'annex sqlite ?#%20-'))
    database = await openDatabase('', folder)
    await database.db.raw('create table blobs (id integer primary key, bytes blob)')
  })

  after(async () => {
    await database?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('syncs each commit', async () => {
    assert.deepEqual(await database.db.raw('pragma synchronous'), [{ synchronous: 2 }])
    assert.deepEqual(await database.db.raw('pragma journal_mode'), [{ journalMode: 'wal' }])
  })

  it('restarts its log although commits never pause', async () => {
    for (let commit = 0; commit < 100; commit++) {
      await database.db('blobs').insert({ id: commit, bytes: Buffer.alloc(mebibyte, commit) })
    }
    const size = statSync(join(folder, 'annex.sqlite-wal')).size
    assert.ok(size < 60 * mebibyte, `100 MiB were written and the log has ${Math.round(size / mebibyte)}`)
  })

  it('is read by other connections while a transaction is open', async () => {
    const { db, reader, longReader } = database
    const writing = await db.transaction()
    await writing('blobs').delete()
    for (const other of [reader, longReader]) assert.equal((await other('blobs').select('id')).length, 100)
    await writing.rollback()
  })

  it('refuses writes over its read connections', async () => {
    for (const other of [database.reader, database.longReader])
      await assert.rejects(other('blobs').delete(), { code: 'SQLITE_READONLY' })
  })

  it('has the primary result code of SQLite in its errors', async () => {
    await assert.rejects(database.db('blobs').insert({ id: 1 }), { code: 'SQLITE_CONSTRAINT' })
    await assert.rejects(database.db('blobs').select('none'), { code: 'SQLITE_ERROR' })
  })

  it('names no value in an error, as values may be secrets', async () => {
    await assert.rejects(database.db('blobs').where({ none: 'secret' }), ({ message }: Error) => {
      assert.match(message, /^select \* from `blobs` where `none` = \? - SQLITE_ERROR: no such column: none$/)
      return true
    })
  })

  it('reports a full disk that ended a transaction, and then works again', async () => {
    const { db } = database
    const [{ pageCount: pages }] = await db.raw('pragma page_count')
    const [{ freelistCount: free }] = await db.raw('pragma freelist_count')
    await db.raw(`pragma max_page_count = ${pages + 2}`)
    const bytes = Buffer.alloc((free + 100) * 4_096)
    const transactions = [
      () => db.transaction((transaction) => transaction('blobs').insert({ bytes })),
      () => db.transaction((outer) => outer.transaction((inner) => inner('blobs').insert({ bytes }))),
    ]
    for (const store of transactions)
      await assert.rejects(store, (error) => explainStorageError(error)?.code === 'storage_full')
    await db('blobs').insert({ id: 1_000, bytes: 'a' })
    assert.equal((await db('blobs').where({ id: 1_000 })).length, 1)
  })
})
