import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openSqliteThread } from '../../host/db/sqlite/sqlite-thread.ts'

describe('an SQLite file’s thread', async () => {
  const thread = await openSqliteThread(':memory:')
  after(() => thread.close())
  const run = (sql: string, ...bindings: unknown[]) => thread.run(sql, bindings)
  await run('create table things (id integer primary key)')
  const things = async () => (await run('select id from things order by id')).rows

  it('runs what it is asked for in its order, all that is asked for at once together', async () => {
    const given = await Promise.all([
      run('insert into things values (?)', 1),
      run('insert into things values (?) returning id', 2),
      run('select count(*) as count from things'),
      run('delete from things'),
    ])
    assert.deepEqual(
      given.map(({ rows, changes }) => rows ?? changes),
      [1, [{ id: 2 }], [{ count: 2 }], 2],
    )
  })

  it('holds up nothing else while a statement takes long', async () => {
    const long = run(
      'with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000) select count(*) as count from n',
    )
    let ticks = 0
    const timer = setInterval(() => ticks++, 5)
    await long
    clearInterval(timer)
    assert.ok(ticks >= 5, `${ticks} ticks`)
  })

  it('stores nothing of a transaction that SQLite has ended by itself, also when it was asked for before', async () => {
    const asked = await Promise.allSettled([
      run('BEGIN;'),
      run('insert into things values (1)'),
      run('insert or rollback into things values (1)'),
      run('insert into things values (2)'),
      run('ROLLBACK'),
      run('insert into things values (3)'),
    ])
    assert.deepEqual(
      asked.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await things(), [{ id: 3 }])
  })

  it('says what SQLite says, by its name', async () => {
    await assert.rejects(run('insert into things values (3)'), { code: 'SQLITE_CONSTRAINT' })
    await assert.rejects(run('selec'), /syntax error/)
  })

  it('is closed after what it was asked for', async () => {
    const other = await openSqliteThread(':memory:')
    const asked = other.run('select 1 as one', [])
    await wait(0)
    await other.close()
    assert.deepEqual((await asked).rows, [{ one: 1 }])
    assert.equal(other.isOpen(), false)
    await assert.rejects(other.run('select 1', []), /has ended/)
  })
})
