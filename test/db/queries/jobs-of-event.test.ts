// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { listScriptJobs } from '../../../host/db/queries/script-jobs.ts'
import { openSeeded } from '../../support/seeded-database.ts'

it('the jobs of an event are found beside jobs with odd characters, or its id in another field', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, installationId: lane, close } = await openSeeded()
  ends.defer(close)
  const events = [
    { eventId: 'evt_1', text: '\0 \ud800' },
    { eventId: 'evt_2', text: '\0', of: { eventId: 'evt_1' } },
    { eventId: 'evt_3', text: 'evt_1' },
  ]
  await insertJobs(
    db,
    events.map((event) => ({ kind: 'event' as const, subject: { event }, lane, dueAt: 1 })),
  )
  const found = await listScriptJobs(db, { eventId: 'evt_1' }, { state: 'due', after: undefined, limit: 10 })
  assert.deepEqual(
    found.map(({ subject }) => JSON.parse(subject).event.eventId),
    ['evt_1'],
  )
})
