// databases: PostgreSQL

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSeeded } from '../support/seeded-database.ts'
import { noPostgres } from '../support/test-database.ts'

describe('a statement that has to read a whole table', { skip: noPostgres }, () => {
  it('is not compiled first, which takes longer than a small table', async () => {
    const { database, close } = await openSeeded()
    try {
      await database.db.raw('create table notes (note text)')
      for (const connection of [database.db, database.reader, database.longReader]) {
        const { rows } = await connection.raw('explain (analyze) select count(*) from notes')
        const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n')
        assert.match(plan, /Seq Scan on notes/)
        assert.doesNotMatch(plan, /JIT/)
      }
    } finally {
      await close()
    }
  })
})
