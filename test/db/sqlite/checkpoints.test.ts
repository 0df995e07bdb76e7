import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openDatabase } from '../../../host/db/open-database.ts'
import { createCheckpoints } from '../../../host/db/sqlite/checkpoints.ts'

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

it('no transaction waits while the disk is told of what was copied, and none for a log that it has not taken', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-checkpoints-'))
  const filename = join(folder, 'blobs.sqlite')
  const connection = new DatabaseSync(filename)
  connection.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table blobs (bytes blob)')
  const store = connection.prepare('insert into blobs values (zeroblob(4096 * 1000))')
  let isCopied = false
  const disk = Promise.withResolvers<void>()
  const checkpoints = createCheckpoints(connection, filename, () => {
    isCopied = true
    return disk.promise
  })
  const storeOne = async () => {
    await checkpoints.keepShort()
    store.run()
    await nextTurn()
  }
  const logged = () => statSync(`${filename}-wal`).size / pageBytes
  try {
    // Without a pause: a log that is copied whole begins anew.
    while (!isCopied) await storeOne()
    const copied = logged()
    for (let n = 0; n < 16; n += 1) await storeOne()
    assert.ok(logged() >= copied + 16_000, `${copied} pages in the log, and then ${logged()}`)
    disk.reject(new Error('the disk has not taken it'))
    for (let n = 0; n < 16; n += 1) await storeOne()
    assert.ok(logged() >= copied + 32_000, `${copied} pages in the log, and then ${logged()}`)
  } finally {
    await checkpoints.close()
    connection.close()
    rmSync(folder, { recursive: true })
  }
})
