// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { insertJobs } from '../../../host/db/queries/jobs.ts'
import { findScriptJob, listFailedJobs, listScriptJobs } from '../../../host/db/queries/script-jobs.ts'
import { openSeeded } from '../../support/seeded-database.ts'

it('a list of events and tasks has ids and types, without payloads', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, installationId, close } = await openSeeded()
  ends.defer(close)
  const level = { kind: 'installation', integration: 'echo', installationId }
  // PostgreSQL reads no JSON with U+0000.
  const event = { type: 'told', eventId: 'evt_1', said: `\0${'é'.repeat(100_000)}` }
  const owed = { kind: 'event' as const, subject: { level, event }, lane: installationId, dueAt: 1 }
  const [due, failed] = await insertJobs(db, [owed, owed])
  assert.ok(due && failed)
  await db('jobs').where({ id: failed.id }).update({ state: 'failed', finishedAt: 1 })
  const listed = await listScriptJobs(db, {}, { state: 'due', after: undefined, limit: 10 })
  const found = await listFailedJobs(db, { eventId: 'evt_1' }, { before: undefined, limit: 10 })
  assert.deepEqual(
    [...listed, ...found].map(({ id, subject }) => [id, JSON.parse(subject)]),
    [due.id, failed.id].map((id) => [id, { level, event: { type: 'told', eventId: 'evt_1' } }]),
  )
  const whole = await findScriptJob(db, due.id, {})
  assert.deepEqual(JSON.parse(whole?.subject ?? ''), { level, event })
})
