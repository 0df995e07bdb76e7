// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSeeded } from '../support/seeded-database.ts'

it('a closing database refuses queries at once', async () => {
  const { database, db, close } = await openSeeded()
  const held = await db.transaction()
  const closed = close()
  const asked = db('installations').select()
  const refused = assert.rejects(Promise.resolve(asked), {
    code: 'unavailable',
    message: 'Annex is stopping.',
  })
  // What had begun comes to its end.
  assert.equal((await held('installations').select()).length, 1)
  await Promise.race([refused, sleep(5_000, undefined, { ref: false }).then(() => assert.fail('it waits'))])
  await held.commit()
  await closed
  await assert.rejects(database.db('installations').select())
})
