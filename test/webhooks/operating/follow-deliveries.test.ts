import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inTurn, lookOn } from '../../../host/db/looks/look-on.ts'
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

it('whoever leaves before it is their turn to look far is looked for no more', async () => {
  const { db, close } = await openSeeded()
  const turn = Promise.withResolvers<void>()
  const others = inTurn(() => turn.promise)
  const gone = new AbortController()
  const looks: boolean[] = []
  const mine = lookOn(
    db,
    async () => {
      looks.push(gone.signal.aborted)
      return true
    },
    gone.signal,
  )
  await setImmediate()
  gone.abort()
  await close()
  turn.resolve()
  await Promise.all([others, mine])
  assert.deepEqual(looks, [false], 'the first look, which waits for nobody')
})
