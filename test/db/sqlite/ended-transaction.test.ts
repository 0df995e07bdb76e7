import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { explainStorageError } from '../../../host/db/explain-storage-error.ts'
import { openDatabase } from '../../../host/db/open-database.ts'

it('says that the disk is full where that has ended a transaction, and goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-ended-'))
  const { db, close } = await openDatabase('', folder)
  try {
    await db.raw('create table texts (text text)')
    const [{ pageCount: pages }] = await db.raw('pragma page_count')
    await db.raw(`pragma max_page_count = ${pages + 2}`)
    const store = (length: number) =>
      db.transaction((transaction) => transaction('texts').insert({ text: 'x'.repeat(length) }))
    const inner = db.transaction((transaction) =>
      transaction.transaction((nested) => nested('texts').insert({ text: 'x'.repeat(100_000) })),
    )
    for (const stored of [store(100_000), inner]) {
      await assert.rejects(stored, (error) => explainStorageError(error)?.code === 'storage_full')
    }
    await store(10)
    assert.equal((await db('texts')).length, 1)
  } finally {
    await close()
    rmSync(folder, { recursive: true })
  }
})
