import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Db } from '../../host/db/db.ts'
import { oweDeliveries } from '../../host/db/queries/deliveries.ts'
import { insertEvents } from '../../host/db/queries/events.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { type Page, readDeliveries, readEvents, readJobs } from '../../host/db/queries/moved/export-pages.ts'
import { createRowWriter } from '../../host/move/row-writer.ts'
import { openSeeded } from '../support/seeded-database.ts'

const large = 'é'.repeat(200_000)
/** In bytes: two and a half of them. */
const mostText = 1_000_000

/** The ids of each page, and of all. */
async function readAll(installationId: string, read: (page: Page) => Promise<{ id: string }[]>) {
  const pages: string[][] = []
  for (let after: string | undefined = ''; after !== undefined; after = pages.at(-1)?.at(-1)) {
    const rows = await read({ installationId, after, limit: 200, mostText })
    pages.push(rows.map(({ id }) => id))
  }
  return { sizes: pages.map(({ length }) => length), ids: pages.flat() }
}

it('an export reads as many large records at once as make so much text, and leaves none out', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, installationId, organizationId, close } = await openSeeded()
  ends.defer(close)
  const events = Array.from({ length: 7 }, (_, n) => `evt_${n}`)
  const about = { organizationId, type: 'told', receivedAt: 0 }
  await insertEvents(
    db,
    events.map((id) => ({ id, payload: JSON.stringify(large), ...about })),
  )
  const delivery = { installationId, signedBy: 'installation', url: 'http://a.example/', hops: 0 }
  const owed = await oweDeliveries(
    db,
    events.map((eventId) => ({ ...delivery, eventId, eventType: 'told', body: JSON.stringify(large) })),
  )
  const lane = installationId
  const tasks = await insertJobs(
    db,
    events.map(() => ({ kind: 'task', subject: { task: { large } }, lane, dueAt: 1 })),
  )
  const read = (from: (db: Db, page: Page) => Promise<{ id: string }[]>) =>
    readAll(installationId, (page) => from(db, page))
  assert.deepEqual(await read(readEvents), { sizes: [3, 3, 1, 0], ids: events })
  assert.deepEqual(await read(readDeliveries), { sizes: [3, 3, 1, 0], ids: owed.map(({ id }) => id) })
  const jobs = await read((from, page) => readJobs(from, page, 'job_z'))
  // Those of deliveries are short.
  const ids = [...owed.map(({ id }) => id.replace('dlv', 'job')), ...tasks.map(({ id }) => id)]
  assert.deepEqual(new Set(jobs.ids), new Set(ids))
  assert.equal(jobs.ids.length, ids.length)
  assert.ok(Math.max(...jobs.sizes) < ids.length, `${jobs.sizes}`)
})

it('an import stores large rows as soon as there is much text', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, close } = await openSeeded()
  ends.defer(close)
  const writer = createRowWriter(db)
  const count = async () => Number((await db('bodies').count({ count: '*' }).first())?.count)
  for (let n = 0; n < 30; n++) await writer.put('bodies', { id: `body_${n}`, body: large })
  assert.equal(await count(), 21)
  await writer.flush()
  assert.equal(await count(), 30)
})
