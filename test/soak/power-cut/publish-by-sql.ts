// Publishes by the SQL of the host, with a `synchronous` of its own, until it is killed: what the harness must be able
// to catch (NORMAL), and what it must not (FULL). Prints each event's id once its commit has returned.
import { randomUUID } from 'node:crypto'
import { openDatabase } from '../../../host/db/open-database.ts'
import { insertEvents } from '../../../host/db/queries/events.ts'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { ensureOperator } from '../../../host/first-start.ts'

const [dataDir = '', synchronous = 'FULL'] = process.argv.slice(2)
const { db } = await openDatabase('', dataDir)
const { organization } = await ensureOperator(db, 'home')
await db.raw(`PRAGMA synchronous = ${synchronous}`)
for (;;) {
  const id = `evt_${randomUUID()}`
  await db.transaction(async (transaction) => {
    const receivedAt = Date.now()
    const payload = JSON.stringify({ eventId: id, type: 'site_view', filler: 'x'.repeat(1_000) })
    const event = { id, organizationId: organization.id, type: 'site_view', payload, receivedAt }
    await insertEvents(transaction, [event])
    await insertJobs(transaction, [{ kind: 'event', subject: { id }, lane: 'none', dueAt: receivedAt }])
  })
  process.stdout.write(`${id}\n`)
}
