// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { quantile } from '../../host/metrics/activity-counts.ts'
import { readLoad } from '../../host/metrics/read-load.ts'
import {
  createActivityRecorder,
  type Load,
  readActivity,
  steps,
  wholeAnnex,
} from '../../host/metrics/record-activity.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const minute = 60_000
const hour = 60 * minute
const noon = Date.UTC(2026, 0, 1, 12)

const fail = (error: unknown): never => {
  throw error
}

describe('recorded activity', () => {
  let seeded: Seeded
  let nowMs: number
  beforeEach(async () => {
    seeded = await openSeeded()
    nowMs = noon
  })
  afterEach(() => seeded.close())

  const record = () => createActivityRecorder(seeded.db, fail, () => nowMs)
  const read = async (owner: string, step: 'minute' | 'hour', fromMs = 0) =>
    (await readActivity(seeded.db, { owner, step: steps[step], fromMs })).map(
      ({ atMs, counts: { requests, failedRequests, delivered, failed, attempts } }) => [
        new Date(atMs).toISOString().slice(11, 16),
        ...[requests, failedRequests, delivered, failed, attempts],
      ],
    )
  const dispatch = { organizationId: 'org_1', type: 'fetch', outcome: 'ok', status: 200, wallMs: 4, cpuMs: 2 }

  it('is of an organization by the hour, and of all of Annex by the minute, too', async () => {
    const recorder = record()
    recorder.noteDispatch(dispatch)
    recorder.noteDispatch({ ...dispatch, status: 502 })
    nowMs += 2 * minute
    recorder.noteDispatch({ ...dispatch, organizationId: 'org_2', outcome: 'script_error' })
    recorder.noteAttempt({ organizationId: 'org_1', state: 'pending', attempt: { durationMs: 30 } })
    recorder.noteAttempt({ organizationId: 'org_1', state: 'delivered', attempt: { durationMs: 20 } })
    recorder.noteAttempt({ organizationId: 'org_1', state: 'failed' })
    await recorder.close()
    assert.deepEqual(await read(wholeAnnex, 'minute'), [
      ['12:00', 2, 1, 0, 0, 0],
      ['12:02', 1, 1, 1, 1, 2],
    ])
    assert.deepEqual(await read(wholeAnnex, 'hour'), [['12:00', 3, 2, 1, 1, 2]])
    assert.deepEqual(await read('org_1', 'hour'), [['12:00', 2, 1, 1, 1, 2]])
    assert.deepEqual(await read('org_2', 'hour'), [['12:00', 1, 1, 0, 0, 0]])
    assert.deepEqual(await read('org_1', 'minute'), [])
    assert.deepEqual(await read('org_1', 'hour', noon + hour), [])
  })

  it('is read by longer points, with the times of all in each', async () => {
    const recorder = record()
    for (const [at, wallMs] of [
      [0, 1],
      [9, 100],
      [10, 3],
      [61, 4],
    ] as const) {
      nowMs = noon + at * minute
      recorder.noteDispatch({ ...dispatch, wallMs })
    }
    await recorder.close()
    const by = { owner: wholeAnnex, step: steps.minute, fromMs: noon, pointMs: 10 * minute }
    const points = await readActivity(seeded.db, by)
    assert.deepEqual(
      points.map(({ atMs, counts }) => [
        (atMs - noon) / minute,
        counts.requests,
        quantile(counts.requestTimes, 1),
      ]),
      [
        [0, 2, 128],
        [10, 1, 4],
        [60, 1, 4],
      ],
    )
    assert.equal((await readActivity(seeded.db, { ...by, fromMs: noon + 10 * minute })).length, 2)
  })

  it('counts events and tasks as CPU time, and not as requests', async () => {
    const recorder = record()
    recorder.noteDispatch({ organizationId: 'org_1', type: 'task', outcome: 'ok', wallMs: 4, cpuMs: 2 })
    await recorder.close()
    const [point] = await readActivity(seeded.db, { owner: 'org_1', step: steps.hour, fromMs: 0 })
    assert.deepEqual(
      [point?.counts.requests, point?.counts.cpuMs, point?.counts.requestTimes.size],
      [0, 2, 0],
    )
  })

  it('adds what several hosts and several seconds have counted', async () => {
    const hosts = [record(), record()]
    for (let second = 0; second < 3; second++) {
      for (const host of hosts) host.noteDispatch(dispatch)
      await Promise.all(hosts.map((host) => host.flush()))
    }
    await Promise.all(hosts.map((host) => host.close()))
    assert.deepEqual(await read('org_1', 'hour'), [['12:00', 6, 0, 0, 0, 0]])
  })

  it('is kept by the minute for a day, and by the hour for eight days', async () => {
    const recorder = record()
    recorder.noteDispatch(dispatch)
    await recorder.flush()
    for (const days of [2, 10]) {
      nowMs = noon + days * 24 * hour
      recorder.noteDispatch(dispatch)
      await recorder.flush()
    }
    await recorder.close()
    assert.equal((await read(wholeAnnex, 'minute')).length, 1)
    assert.equal((await read('org_1', 'hour')).length, 2)
  })

  it('takes no number from a sandbox process that is none', async () => {
    const recorder = record()
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, -5])
      recorder.noteDispatch({ ...dispatch, wallMs: wrong, cpuMs: wrong })
    await recorder.close()
    const [point] = await readActivity(seeded.db, { owner: 'org_1', step: steps.hour, fromMs: 0 })
    assert.deepEqual([point?.counts.requests, point?.counts.cpuMs], [3, 0])
  })

  it('is less than 20 MB for 1,000 organizations that all did something each hour, and have a backlog', async () => {
    const recorder = record()
    const organizations = Array.from(
      { length: 8 },
      (_, n) => `org_0190a1b2-0000-7000-8000-${String(n).padStart(12, '0')}`,
    )
    for (let at = 0; at < 8 * 24; at++, nowMs += hour) {
      for (const organizationId of organizations)
        for (let n = 0; n < 20; n++) {
          recorder.noteDispatch({ ...dispatch, organizationId, wallMs: 2 ** n })
          recorder.noteAttempt({ organizationId, state: 'delivered', attempt: { durationMs: 3 ** (n / 2) } })
        }
      // Numbers of many digits that differ by the hour.
      const uneven = (most: number) => Math.round(most * (0.5 + Math.sin(at) / 2))
      const backlog = { backlog: uneven(1e6), oldestMs: uneven(1e9) }
      recorder.noteLoad(load(...organizations.map((organizationId) => ({ organizationId, ...backlog }))))
      if (at % 24 === 23) await recorder.flush()
    }
    await recorder.close()
    assert.equal((await loads(organizations[0] ?? '', 'hour')).filter(([, jobs]) => jobs).length, 8 * 24)
    const rows = await seeded.db('activity').where('owner', '>', '').select('owner', 'slots')
    const bytes = rows.reduce((sum, row) => sum + row.owner.length + row.slots.length + 100, 0)
    const ofThousand = (bytes / organizations.length) * 1_000
    assert.ok(ofThousand < 20_000_000, `${Math.round(ofThousand / 1e6)} MB`)
  })

  const loads = async (owner: string, step: 'minute' | 'hour') =>
    (await readActivity(seeded.db, { owner, step: steps[step], fromMs: 0 })).map(
      ({ counts: { memoryBytes, backlog, oldestMs } }) => [memoryBytes, backlog, oldestMs],
    )
  const load = (...ofOrganizations: Load['ofOrganizations']): Load => ({
    ...{ memoryBytes: 1_000_000, backlog: 4, oldestMs: 2_000 },
    ofOrganizations,
  })
  const own = { organizationId: 'org_1', backlog: 3, oldestMs: 500 }

  it('stores the load that it reads once a minute', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const recorder = record()
    const stop = recorder.watch(async () => load(own))
    context.mock.timers.tick(minute)
    stop()
    context.mock.timers.reset()
    await new Promise((resolve) => setImmediate(resolve))
    await recorder.close()
    assert.deepEqual(await loads(wholeAnnex, 'minute'), [[1_000_000, 4, 2_000]])
    assert.deepEqual(await loads('org_1', 'hour'), [[0, 3, 500]])
    assert.deepEqual(await loads('org_1', 'minute'), [])
  })

  it('keeps the largest backlog and age of an hour, and begins anew with the next', async () => {
    const recorder = record()
    recorder.noteLoad(load({ ...own, backlog: 9, oldestMs: 10 }))
    await recorder.flush()
    recorder.noteLoad(load({ ...own, backlog: 2, oldestMs: 70 }))
    nowMs += hour
    recorder.noteLoad(load(own))
    await recorder.close()
    assert.deepEqual(await loads('org_1', 'hour'), [
      [0, 9, 70],
      [0, 3, 500],
    ])
  })

  it('has the backlog once that several hosts have read', async () => {
    const hosts = [record(), record(), record()]
    for (const host of hosts) host.noteLoad(load(own))
    await Promise.all(hosts.map((host) => host.close()))
    assert.deepEqual(await loads('org_1', 'hour'), [[0, 3, 500]])
    assert.deepEqual(await loads(wholeAnnex, 'hour'), [[1_000_000, 4, 2_000]])
  })

  it('stores the jobs that wait, of their organization alone', async () => {
    const other = await seeded.addOrganization('other')
    const dueAt = Date.now()
    const job = { kind: 'event', subject: {}, lane: other.installationId, dueAt, state: 'waiting' } as const
    await insertJobs(seeded.db, [job, job])
    const recorder = record()
    recorder.noteLoad(await readLoad(seeded.db, { processes: () => [] }))
    await recorder.close()
    const [[, backlog] = []] = await loads(other.organizationId, 'hour')
    assert.equal(backlog, 2)
    const owners: string[] = await seeded.db('activity').distinct().orderBy('owner').pluck('owner')
    assert.deepEqual(owners, [wholeAnnex, other.organizationId], 'nothing of an organization without jobs')
  })
})
