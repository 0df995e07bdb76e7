import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createGroupCommit, type Step } from '../../../host/db/commits/group-commit.ts'
import type { Db } from '../../../host/db/db.ts'
import { openDatabase } from '../../../host/db/open-database.ts'
import { until } from '../../support/annex.ts'
import { createTestDatabase } from '../../support/test-database.ts'

async function openCommits(ends: AsyncDisposableStack, synced = async () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-commits-'))
  ends.defer(() => rmSync(folder, { recursive: true }))
  const made = await createTestDatabase()
  ends.defer(made.drop)
  const database = await openDatabase(made.url, folder)
  ends.defer(database.close)
  return { db: database.db, commits: createGroupCommit({ ...database, synced }) }
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
  assert.deepEqual(groups, [[1, 2, 3], [1, 2], [1], [2], [3]])
})

it('an item that cannot be stored costs the others of its group a few commits, however many they are', async () => {
  await using ends = new AsyncDisposableStack()
  const { commits } = await openCommits(ends)
  const items = Array.from({ length: 256 }, (_, n) => n)
  for (const bad of [0, 100, 255]) {
    let asked = 0
    const step: Step<number, number> = async (_transaction, some) => {
      asked += 1
      if (some.includes(bad)) throw new TypeError('not this one')
      return some
    }
    const stored = await Promise.allSettled(items.map((item) => commits.store(step, item)))
    assert.deepEqual(
      stored.filter(({ status }) => status === 'rejected'),
      [stored[bad]],
    )
    assert.equal(asked, 17)
  }
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

it('a group that PostgreSQL ends for somebody who waits for it is stored when that one is through', async () => {
  await using ends = new AsyncDisposableStack()
  const { commits } = await openCommits(ends)
  const groups: number[][] = []
  const endedTimes = (times: number): Step<number, number> => {
    let left = times
    return async (_transaction, items) => {
      groups.push([...items])
      if (left-- > 0) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      return items
    }
  }
  const store = (step: Step<number, number>) =>
    Promise.allSettled([1, 2].map((item) => commits.store(step, item)))
  const stored = (await store(endedTimes(2))).map(({ status }) => status)
  assert.deepEqual([stored, groups.splice(0)], [['fulfilled', 'fulfilled'], Array(3).fill([1, 2])])
  const refused = (await store(endedTimes(9))).map(({ status }) => status)
  assert.deepEqual([refused, groups.length], [['rejected', 'rejected'], 3])
})

it('says what is committed at once, and resolves what is stored when the disk has it', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, commits, step, disk } = await openOnBusyDisk(ends)
  const order: string[] = []
  const committed = Promise.withResolvers<void>()
  const stored = commits
    .store(step, 1, (result) => {
      order.push(`committed ${result}`)
      committed.resolve()
    })
    .then((result) => order.push(`stored ${result}`))
  assert.equal(await commits.note(step, 2), 2)
  await committed.promise
  assert.deepEqual(order, ['committed 1'])
  disk.resolve()
  await stored
  assert.deepEqual(order, ['committed 1', 'stored 1'])
  assert.deepEqual(await db('numbers').pluck('number'), [1, 2])
})

it('says of what the disk does not take that it is not stored', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, commits } = await openCommits(ends, () => Promise.reject(new Error('the disk is gone')))
  const step = await createNumbers(db)
  await assert.rejects(commits.store(step, 1), /the disk is gone/)
  assert.equal(await commits.note(step, 2), 2)
  await commits.close()
})

it('goes on while the disk is busy, but not further than a power cut may undo', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, commits, step, disk } = await openOnBusyDisk(ends)
  let stored = 0
  const store = (count: number) =>
    Array.from({ length: count }, (_, n) => commits.store(step, n).then(() => (stored += 1)))
  const committed = async () => (await db('numbers').pluck('number')).length
  const one = store(1)
  await until(committed, (count) => count === 1)
  const few = store(20)
  await until(committed, (count) => count === 21)
  const fewer = store(3)
  await until(committed, (count) => count === 24)
  const many = store(3_000)
  await until(committed, (count) => count > 512)
  for (let turns = 0; turns < 10; turns += 1) assert.ok((await committed()) < 800)
  assert.equal(stored, 0)
  disk.resolve()
  await Promise.all([...one, ...few, ...fewer, ...many])
  assert.equal(await committed(), 3_024)
})

/** The disk takes what it is given when `disk` resolves. */
async function openOnBusyDisk(ends: AsyncDisposableStack) {
  const disk = Promise.withResolvers<void>()
  const { db, commits } = await openCommits(ends, () => disk.promise)
  const step = await createNumbers(db)
  return { db, commits, step, disk }
}

async function createNumbers(db: Db): Promise<Step<number, number>> {
  await db.raw('create table numbers (number integer)')
  return async (transaction, items) => {
    await transaction('numbers').insert(items.map((number) => ({ number })))
    return items
  }
}
