// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { JobKind } from '../../../host/db/db.ts'
import { readBacklog } from '../../../host/db/queries/backlog.ts'
import { insertJobs, type JobRow, type NewJob } from '../../../host/db/queries/jobs.ts'
import { runScriptJobAgain } from '../../../host/db/queries/script-jobs.ts'
import { openSeeded, type Seeded } from '../../support/seeded-database.ts'

const hourMs = 3_600_000

describe('the age of the oldest pending job', () => {
  let seeded: Seeded
  before(async () => {
    seeded = await openSeeded()
  })
  beforeEach(() => seeded.db('jobs').delete())
  after(() => seeded.close())

  const owe = async (kind: JobKind, given: Partial<NewJob> & { inMs?: number } = {}): Promise<JobRow> => {
    const { inMs = 0, ...rest } = given
    const [job] = await insertJobs(seeded.db, [
      { kind, subject: {}, lane: 'a', dueAt: Date.now() + inMs, ...rest },
    ])
    return job as JobRow
  }
  const change = (job: JobRow, fields: object) => seeded.db('jobs').where({ id: job.id }).update(fields)
  /** Makes all jobs older. */
  const pass = (ms: number) =>
    seeded.db.raw(
      'update jobs set created_at = created_at - ?, due_at = due_at - ?, position = position - ?',
      [ms, ms, ms * 1_000],
    )
  const retryLater = { attempt: 1, dueAt: Date.now() + hourMs }
  const many = (kind: JobKind, id?: (n: number) => string) =>
    insertJobs(
      seeded.db,
      Array.from({ length: 200 }, (_, n) => ({
        ...{ kind, subject: {}, lane: 'b', dueAt: Date.now() },
        ...(id && { id: id(n) }),
      })),
    )

  async function isHours(kind: JobKind, hours: number): Promise<void> {
    const { oldest } = await readBacklog(seeded.db)
    const ageMs = oldest.find((one) => one.kind === kind)?.ageMs ?? Number.NaN
    assert.ok(Math.abs(ageMs - hours * hourMs) < 60_000, `${kind}: ${ageMs / hourMs} h, not ${hours} h`)
  }

  for (const kind of ['event', 'task', 'delivery'] as const) {
    it(`counts from the job’s creation, through runs, waits and retries: ${kind}`, async () => {
      const job = await owe(kind)
      await pass(2 * hourMs)
      await isHours(kind, 2)
      for (const state of ['running', 'waiting', 'due']) {
        await change(job, { state, attempt: 1 })
        await isHours(kind, 2)
      }
      await change(job, retryLater)
      await isHours(kind, 2)
      await change(job, { state: 'failed' })
      await isHours(kind, 0)
      if (kind === 'delivery') return
      await runScriptJobAgain(seeded.db, job.id)
      await pass(hourMs)
      await isHours(kind, 1)
    })

    it(`includes a retry behind hundreds of due jobs: ${kind}`, async () => {
      const job = await owe(kind)
      await pass(2 * hourMs)
      await change(job, retryLater)
      await many(kind)
      await isHours(kind, 2)
    })

    it(`is 0 for a scheduled job until its due time: ${kind}`, async () => {
      const job = await owe(kind, { inMs: 3 * hourMs })
      await isHours(kind, 0)
      if (kind !== 'task') return
      await pass(2 * hourMs)
      await isHours(kind, 0)
      await pass(2 * hourMs)
      for (const state of ['due', 'running', 'waiting']) {
        await change(job, { state })
        await isHours(kind, 1)
      }
      await change(job, { ...retryLater, state: 'due' })
      await isHours(kind, 1)
    })
  }

  it('includes an old delivery beside hundreds of newly sent ones', async () => {
    await owe('delivery', { id: 'job_5' })
    await pass(2 * hourMs)
    await many('delivery', (n) => `job_1${n}`)
    await isHours('delivery', 2)
  })
})
