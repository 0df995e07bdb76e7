import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createChanges } from '../../../host/webhooks/operating/changes.ts'
import { followDeliveries } from '../../../host/webhooks/operating/follow-deliveries.ts'
import { openSeeded } from '../../support/seeded-database.ts'

it('the live feed asks the database nothing for a reader that is gone: it may be closed by then', async () => {
  const { db, close } = await openSeeded()
  const changes = createChanges()
  const gone = new AbortController()
  const looks = followDeliveries(db, changes, {}, undefined, gone.signal)
  assert.deepEqual((await looks.next()).value, [])
  let asked = 0
  db.on('query', () => {
    asked += 1
  })
  const next = looks.next()
  gone.abort()
  changes.notify()
  assert.equal((await next).done, true)
  assert.equal(asked, 0)
  await close()
})
