import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createGroupCommit, type Step } from '../../host/db/group-commit.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { until } from '../support/annex.ts'
import { createTestDatabase } from '../support/test-database.ts'

async function openCommits(ends: AsyncDisposableStack) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-commits-'))
  ends.defer(() => rmSync(folder, { recursive: true }))
  const made = await createTestDatabase()
  ends.defer(made.drop)
  const database = await openDatabase(made.url, folder)
  ends.defer(database.close)
  return { db: database.db, commits: createGroupCommit(database.db) }
}

it('an item that cannot be stored does not take the others of its group with it', async () => {
  await using ends = new AsyncDisposableStack()
  const { commits } = await openCommits(ends)
  const groups: number[][] = []
  const step: Step<number, number> = async (_transaction, items) => {
    groups.push([...items])
    if (items.includes(2)) throw new TypeError('not this one')
    return items
  }
  const stored = await Promise.allSettled([1, 2, 3].map((item) => commits.store(step, item)))
  assert.deepEqual(
    stored.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(groups, [[1, 2, 3], [1], [2], [3]])
})

it('a database that takes nothing at the moment is not asked again for each item of a group', async () => {
  await using ends = new AsyncDisposableStack()
  const { commits } = await openCommits(ends)
  let asked = 0
  const step: Step<number, number> = async () => {
    asked += 1
    throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
  }
  const stored = await Promise.allSettled([1, 2, 3].map((item) => commits.store(step, item)))
  assert.deepEqual(
    stored.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.equal(asked, 1)
})

it('resolves what is only noted when it is committed, and what is stored when the disk has it', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, commits } = await openCommits(ends)
  await db.raw('create table notes (text text)')
  const step: Step<string, void> = async (transaction, items) => {
    await transaction('notes').insert(items.map((text) => ({ text })))
    return items.map(() => undefined)
  }
  const order: string[] = []
  await Promise.all([
    commits.store(step, 'stored').then(() => order.push('stored')),
    commits.note(step, 'noted').then(() => order.push('noted')),
  ])
  assert.deepEqual(order, ['noted', 'stored'])
  assert.deepEqual(await db('notes').pluck('text'), ['stored', 'noted'])
})

it('commits while the disk is busy what is worth it, and no more than a power cut may undo', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, commits } = await openCommits(ends)
  await db.raw('create table numbers (number integer)')
  const step: Step<number, void> = async (transaction, items) => {
    await transaction('numbers').insert(items.map((number) => ({ number })))
    return items.map(() => undefined)
  }
  const disk = Promise.withResolvers<void>()
  db.client.synced = () => disk.promise
  let stored = 0
  const store = (count: number) =>
    Array.from({ length: count }, (_, n) => commits.store(step, n).then(() => (stored += 1)))
  const committed = async () => (await db('numbers').pluck('number')).length
  const first = store(1)
  await until(committed, (count) => count === 1)
  const few = store(15)
  for (let turns = 0; turns < 10; turns += 1) assert.equal(await committed(), 1)
  const enough = store(1)
  await until(committed, (count) => count === 17)
  const many = store(3_000)
  await until(committed, (count) => count > 512)
  for (let turns = 0; turns < 10; turns += 1) assert.ok((await committed()) < 800)
  assert.equal(stored, 0)
  disk.resolve()
  await Promise.all([...first, ...few, ...enough, ...many])
  assert.equal(await committed(), 3_017)
})
