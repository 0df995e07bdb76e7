import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { committed } from '../../../host/db/commits/committed.ts'
import { sideBySide } from '../../../host/db/commits/side-by-side.ts'
import type { Db } from '../../../host/db/db.ts'
import { openDatabase } from '../../../host/db/open-database.ts'
import { isPostgres } from '../../../host/db/rows/json-rows.ts'
import { createTestDatabase } from '../../support/test-database.ts'

async function openNumbers(ends: AsyncDisposableStack): Promise<Db> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-side-by-side-'))
  ends.defer(() => rmSync(folder, { recursive: true }))
  const made = await createTestDatabase()
  ends.defer(made.drop)
  const { db, close } = await openDatabase(made.url, folder)
  ends.defer(close)
  await db.raw('create table numbers (number integer primary key, text text)')
  return db
}

it('asks PostgreSQL for all at once and SQLite in turn, and answers in order', async () => {
  await using ends = new AsyncDisposableStack()
  const db = await openNumbers(ends)
  const order: string[] = []
  const insert = async (transaction: Db, number: number) => {
    order.push(`begins ${number}`)
    await transaction('numbers').insert({ number })
    order.push(`ends ${number}`)
    return number
  }
  const answers = await committed(db, (transaction) =>
    sideBySide(transaction, [() => insert(transaction, 1), () => insert(transaction, 2)]),
  )
  assert.deepEqual(answers, [1, 2])
  const expected = isPostgres(db)
    ? ['begins 1', 'begins 2', 'ends 1', 'ends 2']
    : ['begins 1', 'ends 1', 'begins 2', 'ends 2']
  assert.deepEqual(order, expected)
  assert.deepEqual(await db('numbers').pluck('number'), [1, 2])
})

it('says what has failed, when all have ended, and stores nothing of the others', async () => {
  await using ends = new AsyncDisposableStack()
  const db = await openNumbers(ends)
  let running = 0
  const twice = async (transaction: Db, numbers: readonly number[]) => {
    running += 1
    try {
      for (const number of numbers) await transaction('numbers').insert({ number })
    } finally {
      running -= 1
    }
  }
  const stored = committed(db, async (transaction) => {
    const asked = [
      () => twice(transaction, [1, 2, 3]),
      () => sideBySide(transaction, [() => twice(transaction, [4, 4]), () => twice(transaction, [5, 6, 7])]),
      () => twice(transaction, [8, 9]),
    ]
    await sideBySide(transaction, asked).finally(() => assert.equal(running, 0))
  })
  await assert.rejects(stored, /unique/i)
  assert.deepEqual(await db('numbers').pluck('number'), [])
})

it('stores nothing by itself after an error that has ended a transaction of SQLite', async (t) => {
  await using ends = new AsyncDisposableStack()
  const db = await openNumbers(ends)
  if (isPostgres(db)) return t.skip('an error there ends no transaction')
  const [{ pageCount: pages }] = await db.raw('pragma page_count')
  await db.raw(`pragma max_page_count = ${pages + 2}`)
  const stored = committed(db, (transaction) =>
    sideBySide(transaction, [
      () => transaction('numbers').insert({ number: 1, text: 'x'.repeat(100_000) }),
      () => transaction('numbers').insert({ number: 2 }),
    ]),
  )
  await assert.rejects(stored, /full/)
  assert.deepEqual(await db('numbers').pluck('number'), [])
})
