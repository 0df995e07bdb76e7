// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { systemOrigin } from '../../host/access/actor.ts'
import { announce, type News } from '../../host/db/announce.ts'
import { findInstallation } from '../../host/db/queries/installations.ts'
import { insertJobs, type NewJob } from '../../host/db/queries/jobs.ts'
import { activateLevel, updateLevel } from '../../host/db/queries/levels.ts'
import { transact } from '../../host/db/sql.ts'
import { recordAudit } from '../../host/logs/audit.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('the news of a commit', () => {
  let seeded: Seeded
  let told: News[]
  beforeEach(async () => {
    seeded = await openSeeded()
    told = []
    seeded.database.onNews((news) => told.push(news))
  })
  afterEach(() => seeded.close())

  it('are told once, when the transaction is committed', async () => {
    await transact(seeded.db, async (transaction) => {
      for (const news of ['changed', 'delivery', 'changed'] as const) announce(transaction, news)
      assert.deepEqual(told, [])
    })
    assert.deepEqual(told, ['changed', 'delivery'])
  })

  it('are those of the inner transactions, too', async () => {
    await transact(seeded.db, async (outer) => {
      await transact(outer, async (inner) => announce(inner, 'work'))
      assert.deepEqual(told, [])
    })
    assert.deepEqual(told, ['work'])
  })

  it('are none after a transaction that failed', async () => {
    const failed = transact(seeded.db, async (transaction) => {
      announce(transaction, 'changed')
      throw new Error('Not stored.')
    })
    await assert.rejects(failed, /Not stored/)
    assert.deepEqual(told, [])
  })

  it('are told at once outside of a transaction', () => {
    announce(seeded.db, 'task')
    assert.deepEqual(told, ['task'])
  })

  it('name the kinds of new jobs, each audited change, and each change of a level', async () => {
    const { db, installationId, organizationId } = seeded
    const job = (kind: NewJob['kind']): NewJob => ({ kind, subject: {}, lane: installationId, dueAt: 1 })
    await transact(db, (transaction) => insertJobs(transaction, [job('event'), job('task'), job('event')]))
    assert.deepEqual(told.splice(0), ['event', 'task'])
    await recordAudit(db, systemOrigin, {
      ...{ action: 'organization.change', organizationId },
      subject: { kind: 'organization', id: organizationId },
    })
    assert.deepEqual(told.splice(0), ['changed'])
    const level = await findInstallation(db, installationId)
    assert.ok(level)
    // A script that refreshes its credential has no entry in the audit.
    await updateLevel(db, level, { configuration: { token: 'new' } })
    assert.deepEqual(told.splice(0), ['changed'])
    await activateLevel(db, level)
    assert.deepEqual(told.splice(0), ['changed'])
  })
})
