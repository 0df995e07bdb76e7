// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSecretBox, createSigningSecret } from '../../host/access/secret-box.ts'
import { createGroupCommit, type GroupCommit } from '../../host/db/group-commit.ts'
import { queueDeliveries } from '../../host/db/queries/deliveries.ts'
import { insertJobs } from '../../host/db/queries/jobs.ts'
import { handleEach, type JobHandler, stored } from '../../host/queue/job-handler.ts'
import { defaultSchedule } from '../../host/queue/retry-schedule.ts'
import { createWorker } from '../../host/queue/worker.ts'
import { createDeliveryHosts } from '../../host/webhooks/delivery-hosts.ts'
import { createRunDelivery } from '../../host/webhooks/run-delivery.ts'
import { createSecretReader } from '../../host/webhooks/signing-secrets.ts'
import { until } from '../support/annex.ts'
import { hurriedClock } from '../support/hurried-clock.ts'
import { type Network, startNetwork } from '../support/network.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const hurry = 20

/** A worker whose clock hurries. `tries`: how often something was to be stored. */
async function startWorker(
  { database }: Seeded,
  handlers: Parameters<typeof createWorker>[0]['handlers'],
  ends: AsyncDisposableStack,
) {
  const commits = createGroupCommit(database.db)
  let tries = 0
  const counting: GroupCommit = {
    ...commits,
    store(step, item) {
      // A claim has no item.
      if (item !== undefined) tries += 1
      return commits.store(step, item)
    },
  }
  const worker = await createWorker({
    ...{ database, commits: counting, clock: hurriedClock(database.clock, hurry) },
    ...{ handlers, hostId: 'host_1', random: Math.random, concurrency: 4, lanes: { most: 4, first: 4 } },
    onDefect: () => {},
  })
  ends.defer(worker.close)
  return { worker, tries: () => tries }
}

/** A database that can be made to fail: PostgreSQL is unreachable then, and the disk of SQLite is full. */
async function openFailing(ends: AsyncDisposableStack) {
  let network: Network | undefined
  const seeded = await openSeeded(async (url) => {
    if (url === '') return url
    network = await startNetwork(url)
    ends.defer(network.close)
    return network.url
  })
  ends.defer(seeded.close)
  const setPages = (most: number) => seeded.db.raw(`pragma max_page_count = ${most}`)
  return {
    seeded,
    fail: async () => void (await (network?.cut() ?? setPages(1))),
    mend: async () => void (await (network?.mend() ?? setPages(1_000_000))),
  }
}

it('the result of a delivery is kept while the database fails, then stored, without a second attempt', async () => {
  await using ends = new AsyncDisposableStack()
  const { seeded, fail, mend } = await openFailing(ends)
  const { db, database, installationId } = seeded
  const box = createSecretBox(new Uint8Array(32))
  await db('levels').update({ signingSecret: box.seal(createSigningSecret()) })
  const delivery = { installationId, signedBy: 'installation', url: 'http://a.example/', hops: 0 }
  const [owed] = await queueDeliveries(db, [{ ...delivery, eventId: 'evt_1', eventType: 'told', body: '{}' }])
  let sent = 0
  const handler = createRunDelivery({
    secrets: createSecretReader(box, database.clock),
    hosts: createDeliveryHosts({ isRequired: false }),
    async send() {
      sent += 1
      if (sent === 1) await fail()
      return {
        ...{ outcome: 'delivered', status: 200, startedAtMs: database.clock.wall(), durationMs: 1 },
        // Longer than what is free in the pages that there are.
        ...{ requestHeaders: [], responseHeaders: [], responseBody: 'x'.repeat(500_000), timing: {} },
      }
    },
    ...{ clock: database.clock, random: Math.random, schedule: defaultSchedule, timeoutMs: 1_000 },
    ...{ standard: false, giveUpAfterMs: 1_000, onAttempt: () => {} },
    disable: async () => assert.fail('its receiver was disabled'),
  })
  const { tries } = await startWorker(seeded, { delivery: handler }, ends)
  // Three times as long as an outcome is tried that is refused for its own sake.
  await until(
    async () => tries(),
    (count) => count > 90,
  )
  assert.equal(sent, 1)
  await mend()
  await until(
    () => db('jobs').select(),
    (jobs) => jobs.length === 0,
  )
  assert.equal(sent, 1)
  const attempts = await db('attempts').select('deliveryId', 'number', 'outcome')
  assert.deepEqual(attempts, [{ deliveryId: owed?.id, number: 1, outcome: 'delivered' }])
  const deliveries = await db('deliveries').select('state', 'attempts')
  assert.deepEqual(deliveries, [{ state: 'delivered', attempts: 1 }])
})

it('an outcome that the database refuses is dropped, and its job runs again', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database } = seeded
  await insertJobs(db, [{ kind: 'task', subject: {}, lane: 'a', dueAt: database.clock.now() }])
  const mistakes = [
    (transaction: typeof db) => transaction('jobs').insert({ id: null }),
    () => Promise.reject(new TypeError('a mistake of ours')),
  ]
  let runs = 0
  const task: JobHandler = handleEach(async () => {
    const mistake = mistakes[runs]
    runs += 1
    const step = async (transaction: typeof db) => {
      await mistake?.(transaction)
      return []
    }
    return { move: { state: 'gone' }, stores: [stored(step, {})] }
  })
  await startWorker(seeded, { task }, ends)
  await until(
    () => db('jobs').select(),
    (jobs) => jobs.length === 0,
  )
  assert.equal(runs, 3)
})
