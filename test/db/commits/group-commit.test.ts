// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createGroupCommit, type Step } from '../../../host/db/group-commit.ts'
import { openDatabase } from '../../../host/db/open-database.ts'
import { createTestDatabase } from '../../support/test-database.ts'

async function openCommits(ends: AsyncDisposableStack) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-commits-'))
  ends.defer(() => rmSync(folder, { recursive: true }))
  const made = await createTestDatabase(folder)
  ends.defer(made.drop)
  const database = await openDatabase(made.url, folder)
  ends.defer(database.close)
  return { db: database.db, commits: createGroupCommit(database.db) }
}

it('an item that cannot be stored fails alone in its group', async () => {
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

it('an item that cannot be stored costs its group of 256 only 17 steps', async () => {
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

it('a locked database is asked once for a group', async () => {
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

it('a group is committed again after a deadlock on PostgreSQL', async () => {
  await using ends = new AsyncDisposableStack()
  const { commits } = await openCommits(ends)
  const groups: number[][] = []
  const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' })
  const endedWhile = (isEnded: (items: readonly number[]) => boolean): Step<number, number> => {
    return async (_transaction, items) => {
      groups.push([...items])
      if (isEnded(items)) throw deadlock()
      return items
    }
  }
  const store = async (step: Step<number, number>) => {
    const stored = await Promise.allSettled([1, 2].map((item) => commits.store(step, item)))
    return { stored: stored.map(({ status }) => status), groups: groups.splice(0) }
  }
  const whole = Array(5).fill([1, 2])
  const stored = ['fulfilled', 'fulfilled']
  assert.deepEqual(await store(endedWhile(() => groups.length < 5)), { stored, groups: whole })
  // The steps of a large group may be in the way of another host again and again. One item is not.
  assert.deepEqual(await store(endedWhile(({ length }) => length > 1)), {
    stored,
    groups: [...whole, [1], [2]],
  })
  assert.deepEqual(await store(endedWhile((items) => items.includes(2))), {
    stored: ['fulfilled', 'rejected'],
    groups: [...whole, [1], ...Array(5).fill([2])],
  })
})

it('an item resolves once others can read it', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, commits } = await openCommits(ends)
  await db.raw('create table numbers (number integer)')
  const step: Step<number, number> = async (transaction, items) => {
    await transaction('numbers').insert(items.map((number) => ({ number })))
    return items
  }
  const stored = Array.from({ length: 600 }, (_, n) => commits.store(step, n))
  assert.equal(await stored[0], 0)
  assert.ok((await db('numbers').pluck('number')).includes(0))
  await Promise.all(stored)
  assert.equal((await db('numbers').pluck('number')).length, 600)
  await commits.close()
  await assert.rejects(commits.store(step, 1), /stopping/)
})
