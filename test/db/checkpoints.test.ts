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
    for (let n = 0; n < 160; n++) {
      await db.raw('insert into blobs (bytes) values (?)', [bytes])
      longest = Math.max(longest, pagesOf('annex.sqlite-wal'))
    }
    // 10,000 pages, what 16 transactions write beyond that before it is looked at, and those during a copy.
    assert.ok(longest >= 10_000 && longest < 24_000, `${longest} pages of 40,000 in the log`)
    assert.ok(pagesOf('annex.sqlite') > 10_000, `${pagesOf('annex.sqlite')} pages in the database`)
    const [row] = await db.raw('select count(*) as count from blobs')
    assert.equal(row.count, 160)
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
