import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const minuteMs = 60_000
/** Counts are cached for a second. */
const cachedMs = 1_100

describe('work of scripts that is late', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-late-'))
  let annex: Annex
  let database: Database
  before(async () => {
    annex = await startAnnex({ dataDir, plugins: { echo: {}, paused: {} } })
    database = await openDatabase('', dataDir)
  })
  after(async () => {
    await database.close()
    await annex.close()
    rmSync(dataDir, { recursive: true })
  })

  /** Due for so long, behind a job of another host: this host does not run it. */
  async function hold(kind: 'event' | 'task' | 'delivery', lane: string, dueForMs: number, state = 'due') {
    const [first, second] = await insertJobs(
      database.db,
      [1, 2].map((n) => ({ kind, lane, subject: { n }, dueAt: Date.now() + minuteMs, ordered: true })),
    )
    const lease = {
      leaseId: 'other',
      hostId: 'other',
      claimedAt: Date.now(),
      leaseUntil: Date.now() + 600_000,
    }
    await database
      .db('jobs')
      .where({ id: first?.id })
      .update({ state: 'running', ...lease })
    await database
      .db('jobs')
      .where({ id: second?.id })
      .update({ state, dueAt: Date.now() - dueForMs })
  }

  async function install(name: string) {
    const installed = await installSample(annex, name)
    await until(
      () => annex.api('GET', `/v1/jobs?installation=${installed.id}`),
      ({ json }) => json.items.length === 0,
    )
    return installed
  }

  async function read() {
    await sleep(cachedMs)
    const [ready, problems, metrics] = await Promise.all([
      annex.api('GET', '/readyz'),
      annex.api('GET', '/v1/problems'),
      annex.api('GET', '/metrics'),
    ])
    assert.equal(ready.status, 200, ready.text)
    const late: Json[] = problems.json.items.filter(({ kind }: Json) => kind === 'late_work')
    const gauges = metrics.text.matchAll(/^annex_oldest_due_seconds\{kind="(\w+)"\} (\d+)/gm)
    return {
      work: ready.json.work,
      sentences: late.map(({ sentence }) => sentence),
      of: late.map(({ subject, organizationSubdomain }) => [subject.id, organizationSubdomain]),
      gauges: Object.fromEntries([...gauges].map(([, kind, seconds]) => [kind, Number(seconds)])),
    }
  }

  it('is not reported for paused or recent work', async () => {
    await hold('event', 'inst_short', 20_000)
    await hold('event', 'inst_later', -minuteMs)
    const { id, path } = await install('paused')
    assert.equal((await annex.api('POST', `${path}/pause`)).status, 200)
    await hold('task', id, 10 * minuteMs, 'waiting')
    await hold('delivery', 'rcv_dead', 10 * minuteMs)
    const { work, sentences, gauges } = await read()
    assert.deepEqual([work, sentences, gauges.task], [{ ready: true }, [], 0])
    assert.ok(gauges.event !== undefined && gauges.event >= 20 && gauges.event < 60, `${gauges.event}`)
  })

  it('is in /readyz, the problems and the metrics, with the installation that waited longest', async () => {
    const { id } = await install('echo')
    await hold('event', id, 3 * minuteMs)
    await hold('event', 'inst_less', 2 * minuteMs)
    await hold('task', 'echo', 2 * minuteMs)
    const { work, sentences, of, gauges } = await read()
    assert.ok(work.ready)
    assert.ok(work.lateSeconds.event >= 180 && work.lateSeconds.task >= 120, JSON.stringify(work))
    assert.ok((gauges.event ?? 0) >= 180 && (gauges.task ?? 0) >= 120, JSON.stringify(gauges))
    assert.deepEqual(sentences.toSorted(), [
      `Events wait for their scripts for more than a minute, the oldest one at ${id}.`,
      'Tasks wait for their scripts for more than a minute, the oldest one at echo.',
    ])
    assert.deepEqual(of.toSorted(), [
      ['echo', 'home'],
      [id, 'home'],
    ])
    await database.db('jobs').delete()
    assert.deepEqual((await read()).work, { ready: true })
  })
})
