// tier: wall and torture (three hosts under load)
// databases: PostgreSQL

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostIdentity } from '../../host/db/data-folder.ts'
import { openPostgres } from '../../host/db/open-database.ts'
import { keyOf } from '../soak/kills/arrival.ts'
import { repeatsOf } from '../soak/kills/count-deliveries.ts'
import { installFanOut, writeFanOut } from '../soak/kills/fan-out.ts'
import { createPublisher } from '../soak/kills/publisher.ts'
import { readHistory } from '../soak/kills/read-history.ts'
import { startReceivers } from '../soak/kills/start-receivers.ts'
import { until } from '../support/annex.ts'
import { startHost } from '../support/host-process.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { createTestDatabase, noPostgres } from '../support/test-database.ts'
import { isTorture } from '../support/torture.ts'

const attemptsAtOnce = 16
const loadMs = 2_500
/** A lease lapses after 30 s, and is looked for each 10 s. */
const patienceSeconds = 90
/** Slow enough that each host has some in flight nearly always. */
const slowestAnswerMs = 300

describe('three hosts on one PostgreSQL under load', { skip: noPostgres }, () => {
  for (const signal of isTorture ? (['SIGKILL', 'SIGTERM'] as const) : (['SIGKILL'] as const)) {
    it(`lose nothing when one host gets ${signal}`, { timeout: 180_000 }, async (test) => {
      await using ends = new AsyncDisposableStack()
      const { receivers, ended, others, readInFlight } = await startHosts(ends)
      const publisher = createPublisher(Math.random)
      const publishing = others.map(({ listening }) => publisher.publishTo(listening))
      const toEnded = publisher.publishTo(ended.listening)
      await sleep(loadMs)
      await until(readInFlight, (count) => count > 0)
      const endedAtMs = Date.now()
      ended.host.child.kill(signal)
      await ended.host.exited
      // Its leases lapse after 30 s.
      const inFlight = await readInFlight()
      await toEnded.stop()
      await sleep(loadMs)
      await Promise.all(publishing.map(({ stop }) => stop()))

      const acknowledged = [...publisher.acknowledged.keys()]
      assert.ok(acknowledged.length > 20, `${acknowledged.length} events were acknowledged`)
      const missing = () =>
        acknowledged.flatMap((eventId) =>
          receivers.paths.map((path) => keyOf({ eventId, path })).filter((key) => !receivers.taken.has(key)),
        )
      await until(
        async () => missing(),
        (keys) => keys.length === 0,
        patienceSeconds,
      )
      const history = await readHistory(others[0].listening, patienceSeconds * 1_000)
      assert.deepEqual([history.owed, history.failed], [0, 0])
      const repeats = repeatsOf(receivers.arrivals)
      assert.ok(inFlight <= attemptsAtOnce, `it had ${inFlight} in flight`)
      assert.ok(repeats.length <= inFlight, `${repeats.length} came again, of ${inFlight}: ${repeats}`)
      for (const key of repeats) {
        assert.ok(history.interrupted.keys.has(key), `${key} came again, and no attempt says why`)
      }
      if (signal === 'SIGKILL') {
        assert.ok(history.interrupted.begunAtMs.length > 0, 'what it was doing is kept as interrupted')
        const again = receivers.arrivals.filter(
          (arrival) => arrival.atMs > endedAtMs && history.interrupted.keys.has(keyOf(arrival)),
        )
        const tookMs = again.map(({ atMs }) => atMs - endedAtMs)
        test.diagnostic(`${again.length} taken over, the last one ${Math.max(...tookMs)} ms after the kill`)
      } else {
        assert.equal(repeats.length, 0, 'what it was doing came to its end')
        assert.equal(history.interrupted.begunAtMs.length, 0)
      }
    })
  }
})

async function startHosts(ends: AsyncDisposableStack) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-three-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const pluginsDir = join(folder, 'plugins')
  mkdirSync(pluginsDir)
  const made = await createTestDatabase()
  ends.defer(made.drop)
  const receivers = await startReceivers(3, Date.now(), slowestAnswerMs)
  ends.defer(receivers.close)
  writeFanOut(pluginsDir, receivers.urls)
  const environment = {
    DATABASE_URL: made.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DELIVERY_CONCURRENCY: String(attemptsAtOnce),
  }
  const start = async (name: string) => {
    const dataDir = join(folder, name)
    shareBuilds(dataDir)
    const host = startHost({ dataDir, pluginsDir, environment })
    ends.defer(host.kill)
    return { host, listening: await host.listening }
  }
  const [ended, second, third] = await Promise.all([start('first'), start('second'), start('third')])
  await installFanOut(ended.listening)
  const db = await openPostgres(made.url, { connections: 1 })
  ends.defer(() => db.destroy())
  const hostId = hostIdentity(join(folder, 'first'))
  /** How many deliveries the host that is to end has in flight. */
  const readInFlight = async (): Promise<number> => {
    const running = await db('jobs').where({ state: 'running', kind: 'delivery', hostId }).pluck('id')
    return running.length
  }
  return { receivers, ended, others: [second, third] as const, readInFlight }
}
