import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { transact } from '../../host/db/sql.ts'
import { lockDatabase } from '../support/lock-database.ts'

describe('a transaction on SQLite that reads first', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-lock-'))
  let database: Database
  before(async () => {
    database = await openDatabase('', dataDir)
    await database.db.raw('create table counts (name text primary key, count integer)')
    await database.db('counts').insert({ name: 'a', count: 0 })
  })
  after(async () => {
    await database.close()
    rmSync(dataDir, { recursive: true })
  })

  const begins = `begin immediate; update counts set count = count + 1`
  const addOne = () =>
    transact(database.db, async (transaction) => {
      const { count } = await transaction('counts').first()
      await transaction('counts').update({ count: count + 1 })
      return count
    })

  it('waits for another process that writes, and reads what that has written', async () => {
    const commit = await lockDatabase(join(dataDir, 'annex.sqlite'), begins)
    const added = addOne()
    await sleep(100)
    await commit()
    assert.equal(await added, 1)
  })

  it('lets no other process write between what it reads and what it writes', async () => {
    let committed: Promise<void> | undefined
    await transact(database.db, async (transaction) => {
      const { count } = await transaction('counts').first()
      committed = lockDatabase(join(dataDir, 'annex.sqlite'), begins).then((commit) => commit())
      await sleep(500)
      await transaction('counts').update({ count: count + 1 })
    })
    await committed
    assert.equal((await database.db('counts').first()).count, 4)
  })
})
