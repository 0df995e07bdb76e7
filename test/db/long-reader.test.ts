// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { isPostgres } from '../../host/db/sql.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('the connections for lists', () => {
  let seeded: Seeded
  beforeEach(async () => {
    seeded = await openSeeded()
  })
  afterEach(() => seeded.close())

  it('delay neither short reads nor writes', async () => {
    const { db, database } = seeded
    const { longReader } = database
    const long = isPostgres(db)
      ? 'select pg_sleep(0.2)'
      : 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000) select count(*) from n'
    const ended: string[] = []
    const note = (who: string) => () => ended.push(who)
    await longReader.raw('select 1')
    const readers = Array.from({ length: 20 }, () => longReader.raw(long).then(note('reader')))
    for (const asked of [db, database.reader]) await asked('installations').first().then(note('other'))
    await db('installations').update({ holdReason: 'Changed meanwhile.' }).then(note('other'))
    await Promise.all(readers)
    const others = ended.flatMap((who, index) => (who === 'other' ? [index] : []))
    assert.equal(others.length, 3)
    assert.ok(
      others.every((index) => index < 10),
      ended.join(),
    )
  })

  it('show committed rows', async () => {
    const { db, database, installationId } = seeded
    for (const holdReason of ['One.', 'Two.', 'Three.']) {
      await db('installations').update({ holdReason })
      const found = await database.longReader('installations').where({ id: installationId }).first()
      assert.equal(found?.holdReason, holdReason)
    }
  })

  it('work again after an error', async () => {
    const { longReader } = seeded.database
    await assert.rejects(longReader('installations').select('nothing'), /nothing/)
    assert.equal((await longReader('installations').select('id')).length, 1)
  })
})
