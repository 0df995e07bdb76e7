import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { type Database, openDatabase } from '../../../host/db/open-database.ts'

const mebibyte = 2 ** 20

describe('the write-ahead log of SQLite', () => {
  let folder: string
  let database: Database

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-log-'))
    database = await openDatabase('', folder)
    await database.db.raw('create table blobs (id integer primary key, bytes blob)')
  })

  after(async () => {
    await database?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('begins anew again and again, though commits never pause', async () => {
    for (let commit = 0; commit < 200; commit++) {
      await database.db('blobs').insert({ id: commit, bytes: Buffer.alloc(mebibyte, commit) })
    }
    const size = statSync(join(folder, 'annex.sqlite-wal')).size
    assert.ok(size < 120 * mebibyte, `200 MiB were written, and the log has ${Math.round(size / mebibyte)}`)
    const other = new DatabaseSync(join(folder, 'annex.sqlite'), { readOnly: true })
    assert.deepEqual({ ...other.prepare('select count(*) as rows from blobs').get() }, { rows: 200 })
    other.close()
  })

  it('is read by another connection while a transaction is open', async () => {
    const writing = await database.db.transaction()
    await writing('blobs').delete()
    const seen = await database.reader('blobs').count({ rows: '*' }).first()
    await writing.rollback()
    assert.equal(seen?.rows, 200)
    await assert.rejects(database.reader('blobs').delete(), { code: 'SQLITE_READONLY' })
  })
})
