// Publishes with nothing but SQLite itself, and a `synchronous` of its own, until it is killed: what the harness must be
// able to catch (NORMAL), and what it must not (FULL). Prints each event's id once its commit has returned.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDatabase } from '../../../host/db/open-database.ts'
import { ensureOperator } from '../../../host/start/first-start.ts'

const [dataDir = '', synchronous = 'FULL'] = process.argv.slice(2)
const { db, close } = await openDatabase('', dataDir)
const { organization } = await ensureOperator(db, 'home')
await close()
const connection = new DatabaseSync(join(dataDir, 'annex.sqlite'))
// Nothing but a commit syncs: no checkpoint.
connection.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 0`)
const insert = connection.prepare(
  'insert into events (id, organization_id, type, payload, received_at) values (?, ?, ?, ?, ?)',
)
for (;;) {
  const id = `evt_${randomUUID()}`
  const payload = JSON.stringify({ eventId: id, type: 'site_view', filler: 'x'.repeat(1_000) })
  insert.run(id, organization.id, 'site_view', payload, Date.now())
  process.stdout.write(`${id}\n`)
  // So that what was printed is sent.
  await new Promise((resolve) => setImmediate(resolve))
}
