import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'

const pageBytes = 4_096

it('the log of SQLite is copied while commits go on, and begins anew: it does not grow with what is stored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-checkpoints-'))
  const database = await openDatabase('', folder)
  const pagesOf = (name: string) => Math.floor(statSync(join(folder, name)).size / pageBytes)
  try {
    const { db } = database
    await db.raw('create table blobs (id integer primary key, bytes blob)')
    const pages = 250
    const bytes = Buffer.alloc(pages * pageBytes)
    let longest = 0
    let inserts = 0
    // How far it grows while it is copied is for the machine to say: a slow one takes as long as a hundred of these.
    while (inserts * pages < longest + 12_000) {
      assert.ok(inserts < 800, `${longest} pages in the log, of ${inserts * pages}`)
      await db.raw('insert into blobs (bytes) values (?)', [bytes])
      inserts += 1
      longest = Math.max(longest, pagesOf('annex.sqlite-wal'))
    }
    assert.ok(longest >= 10_000, `${longest} pages in the log`)
    assert.ok(pagesOf('annex.sqlite') > 10_000, `${pagesOf('annex.sqlite')} pages in the database`)
    const [row] = await db.raw('select count(*) as count from blobs')
    assert.equal(row.count, inserts)
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
