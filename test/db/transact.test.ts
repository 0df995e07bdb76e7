// databases: PostgreSQL

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Db } from '../../host/db/db.ts'
import { transact } from '../../host/db/sql.ts'
import { openSeeded } from '../support/seeded-database.ts'
import { noPostgres } from '../support/test-database.ts'

describe('transactions in a deadlock', { skip: noPostgres }, () => {
  it('are both stored: PostgreSQL ends one, and Annex repeats it', async () => {
    const { db, close } = await openSeeded()
    try {
      await db.raw('create table counts (name text primary key, count integer)')
      await db('counts').insert(['a', 'b'].map((name) => ({ name, count: 0 })))
      const { promise: bothHoldOne, resolve } = Promise.withResolvers<void>()
      let begun = 0
      const add = async (transaction: Db, name: string) =>
        transaction('counts').where({ name }).increment('count')
      const addTo = (first: string, second: string) =>
        transact(db, async (transaction) => {
          // The repeated one would else take its lock again before the other one wakes: a second deadlock.
          if (begun === 2) await Promise.race(both)
          await add(transaction, first)
          begun += 1
          if (begun === 2) resolve()
          await bothHoldOne
          await add(transaction, second)
        })
      const both = [addTo('a', 'b'), addTo('b', 'a')]
      await Promise.all(both)
      assert.equal(begun, 3)
      assert.deepEqual(await db('counts').orderBy('name').pluck('count'), [2, 2])
    } finally {
      await close()
    }
  })

  it('are given up after five tries, with the last error', async () => {
    const { db, close } = await openSeeded()
    try {
      let tries = 0
      const ended = transact(db, async (transaction) => {
        tries += 1
        await transaction.raw(`do $$ begin raise exception 'try ${tries}' using errcode = '40P01'; end $$`)
      })
      await assert.rejects(ended, /try 5/)
      assert.equal(tries, 5)
    } finally {
      await close()
    }
  })
})
