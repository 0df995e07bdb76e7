// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../host/db/db.ts'
import { queueDeliveries } from '../../host/db/queries/deliveries.ts'
import { createChanges, followDeliveries } from '../../host/webhooks/follow-deliveries.ts'
import { openSeeded } from '../support/seeded-database.ts'

it('the feed makes no query for a reader that has left, as the database may be closed', async () => {
  const { db, database, close } = await openSeeded()
  const changes = createChanges()
  const gone = new AbortController()
  const looks = followDeliveries(database, changes, gone.signal, {})
  assert.deepEqual((await looks.next()).value, [])
  let asked = 0
  for (const one of [db, database.longReader]) {
    one.on('query', () => {
      asked += 1
    })
  }
  const next = looks.next()
  gone.abort()
  changes.notify()
  assert.equal((await next).done, true)
  assert.equal(asked, 0)
  await close()
})

it('the feed includes a transaction that takes long to commit', async (t) => {
  const { db, database, installationId, close } = await openSeeded()
  t.after(close)
  const key = { installationId, signedBy: 'installation', url: 'http://a.example/' }
  const owe = (transaction: Db, eventId: string) =>
    queueDeliveries(transaction, [{ ...key, eventId, eventType: 'told', body: '{}', hops: 0 }])
  // Its receiver is there: making one would hold up the others.
  await owe(db, 'evt_first')
  const changes = createChanges()
  const gone = new AbortController()
  const seen: string[] = []
  const followed = (async () => {
    for await (const items of followDeliveries(database, changes, gone.signal, {}, '0')) {
      seen.push(...items.map(({ delivery }) => delivery.eventId))
      if (seen.includes('evt_last') && seen.includes('evt_slow')) gone.abort()
    }
  })()
  const stored = Promise.withResolvers<void>()
  const slow = db.transaction(async (transaction) => {
    await owe(transaction, 'evt_slow')
    stored.resolve()
    await sleep(1_700)
  })
  await stored.promise
  changes.notify()
  await sleep(200)
  // On SQLite it waits for the slow one, on PostgreSQL it does not. As in a host, id and row belong to one transaction.
  await db.transaction((transaction) => owe(transaction, 'evt_last'))
  changes.notify()
  await slow
  await Promise.race([followed, sleep(8_000, undefined, { ref: false })])
  gone.abort()
  assert.deepEqual(seen, ['evt_first', 'evt_slow', 'evt_last'])
})
