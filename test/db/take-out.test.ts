import assert from 'node:assert/strict'
import { it } from 'node:test'
import { oweDeliveries } from '../../host/db/queries/deliveries.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import {
  deleteInstallation,
  deleteSomeDeliveries,
  deleteSomeWaiting,
} from '../../host/db/queries/moved/take-out.ts'
import { openSeeded } from '../support/seeded-database.ts'

it('an installation is taken out some rows at a time, and nothing of another one', async (t) => {
  const { db, installationId, addOrganization, close } = await openSeeded()
  t.after(close)
  const other = await addOrganization('other')
  for (const owner of [installationId, other.installationId]) {
    const key = { installationId: owner, signedBy: 'installation', url: 'http://a.example/' }
    const given = { ...key, eventType: 'told', hops: 0 }
    const five = [1, 2, 3, 4, 5].map((n) => ({
      ...given,
      eventId: `evt_${n}`,
      body: `{"for":"${owner}${n}"}`,
    }))
    await db.transaction((transaction) => oweDeliveries(transaction, five))
    await insertJobs(db, [{ kind: 'event', subject: {}, lane: owner, dueAt: 1 }])
  }
  await db('jobs').update({ state: 'waiting' })
  const counts = (ask: typeof deleteSomeWaiting) =>
    db.transaction((transaction) => ask(transaction, installationId, 2))
  const deleted = { jobs: [] as number[], deliveries: [] as number[] }
  for (const _ of [1, 2, 3, 4]) deleted.jobs.push(await counts(deleteSomeWaiting))
  for (const _ of [1, 2, 3, 4]) deleted.deliveries.push(await counts(deleteSomeDeliveries))
  assert.deepEqual(deleted, { jobs: [2, 2, 2, 0], deliveries: [2, 2, 1, 0] })
  // One that failed does not wait.
  await insertJobs(db, [{ kind: 'event', subject: {}, lane: installationId, dueAt: 1 }])
  await db.transaction((transaction) => deleteInstallation(transaction, installationId))
  const left = { installations: 1, endpoints: 1, deliveries: 5, bodies: 5, jobs: 6 }
  for (const [table, count] of Object.entries(left)) assert.equal((await db(table)).length, count, table)
})
