// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { readBacklog } from '../../../host/db/queries/backlog.ts'
import { insertJobs, type NewJob } from '../../../host/db/queries/jobs.ts'
import { readOrganizationBacklogs } from '../../../host/db/queries/organization-backlogs.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { planOf, readRowsOf } from '../../support/query-plan.ts'
import { openSeeded, type Seeded } from '../../support/seeded-database.ts'

const minuteMs = 60_000

describe('the backlog of each organization', () => {
  let seeded: Seeded
  let own: { organizationId: string; installationId: string }
  let other: typeof own
  before(async () => {
    seeded = await openSeeded()
    own = seeded
    other = await seeded.addOrganization('other')
    await seeded.addOrganization('idle')
    await seeded.addReceiver('rcv_own', 'active')
  })
  beforeEach(() => seeded.db('jobs').delete())
  after(() => seeded.close())

  /** A job that became pending `minutes` ago. */
  const add = async (given: Partial<NewJob>, minutes = 0, fields: object = {}): Promise<void> => {
    const dueAt = Date.now()
    const jobs: NewJob[] = [{ kind: 'event', subject: {}, lane: own.installationId, dueAt, ...given }]
    const [job] = await insertJobs(seeded.db, jobs)
    const ms = minutes * minuteMs
    const bindings = [ms, ms, ms * 1_000, job?.id ?? '']
    await seeded.db.raw(
      'update jobs set created_at = created_at - ?, due_at = due_at - ?, position = position - ? where id = ?',
      bindings,
    )
    if (Object.keys(fields).length > 0) await seeded.db('jobs').where({ id: job?.id }).update(fields)
  }
  const delivery = { kind: 'delivery', lane: 'rcv_own' } as const
  const ofOwner = () => ({ ...delivery, owner: own.installationId })
  const ofOther = () => ({ lane: other.installationId })

  /** Jobs and minutes by organization. */
  async function read(): Promise<Record<string, [number, number]>> {
    const names = new Map([
      [own.organizationId, 'own'],
      [other.organizationId, 'other'],
    ])
    const rows = await readOrganizationBacklogs(seeded.db)
    return Object.fromEntries(
      rows.map(({ organizationId, backlog, oldestMs }) => [
        names.get(organizationId) ?? organizationId,
        [backlog, Math.round(oldestMs / minuteMs)],
      ]),
    )
  }

  it('is of organizations that have one', async () => {
    assert.deepEqual(await read(), {})
    await add({}, 5)
    assert.deepEqual(await read(), { own: [1, 5] })
  })

  it('counts events, tasks and deliveries of all installations of an organization alone', async () => {
    await add({}, 1)
    await add({ kind: 'task' }, 2)
    await add(ofOwner(), 9)
    await add(ofOwner(), 4)
    await add(ofOther(), 30)
    assert.deepEqual(await read(), { own: [4, 9], other: [1, 30] })
  })

  it('counts due, running and waiting jobs, and no failed one', async () => {
    for (const [at, state] of ['due', 'running', 'waiting', 'failed'].entries()) {
      await add(ofOwner(), 10 + at, { state })
      await add(ofOther(), 20 + at, { state: 'failed' })
    }
    assert.deepEqual(await read(), { own: [3, 12] })
  })

  it('has the age of a retry since it became pending, beside hundreds of retries of another organization', async () => {
    const retry = { attempt: 1, dueAt: Date.now() + 60 * minuteMs }
    await add(ofOwner(), 50, retry)
    await add(ofOwner(), 3)
    for (let n = 0; n < 200; n++) await add(ofOther(), 1, { ...retry, dueAt: Date.now() + minuteMs })
    assert.deepEqual(await read(), { own: [2, 50], other: [200, 1] })
  })

  it('has no age of a task before its due time', async () => {
    await add({ kind: 'task', dueAt: Date.now() + 30 * minuteMs })
    assert.deepEqual(await read(), { own: [1, 0] })
    await add({ kind: 'task', dueAt: Date.now() + 30 * minuteMs }, 40)
    assert.deepEqual(await read(), { own: [2, 10] })
  })

  it('has no task of an integration, which the backlog of all of Annex has', async () => {
    await add({ kind: 'task', lane: 'echo' }, 7)
    await add({}, 2)
    assert.deepEqual(await read(), { own: [1, 2] })
    const { jobs } = await readBacklog(seeded.db)
    assert.equal(
      jobs.reduce((sum, { count }) => sum + count, 0),
      2,
    )
  })

  it('is read by indexes of pending jobs', async () => {
    const { db } = seeded
    const failed = Array.from({ length: 3_000 }, () => ({
      ...{ kind: 'event' as const, subject: {}, lane: own.installationId, dueAt: Date.now() },
    }))
    await insertJobs(db, failed)
    await db('jobs').update({ state: 'failed' })
    for (let n = 0; n < 3; n++) await add(ofOwner(), n)
    const ask = () => readOrganizationBacklogs(db)
    if (isPostgres(db)) {
      await db.raw('analyze jobs')
      const { plan, read } = await readRowsOf(db, ask)
      assert.ok(Math.max(...read) < 100, plan)
    } else {
      const plan = await planOf(db, ask)
      const [due, ...others] = plan.split(',').filter((step) => step.startsWith('SCAN jobs'))
      assert.equal(due, 'SCAN jobs USING COVERING INDEX jobs_due_by_lane')
      assert.deepEqual(
        others.map((step) => step.replace('SCAN jobs USING INDEX ', '')),
        ['jobs_later', 'jobs_leased', 'jobs_waiting'],
      )
    }
  })
})
