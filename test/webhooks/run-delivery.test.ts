// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { createGroupCommit, runSteps } from '../../host/db/group-commit.ts'
import type { Database } from '../../host/db/open-database.ts'
import { findDeliveries, queueDeliveries } from '../../host/db/queries/deliveries.ts'
import { moveJobs } from '../../host/db/queries/jobs.ts'
import { defaultSchedule } from '../../host/queue/retry-schedule.ts'
import { createWorker } from '../../host/queue/worker.ts'
import { createDeliveryHosts } from '../../host/webhooks/delivery-hosts.ts'
import { createHealthNotes } from '../../host/webhooks/receiver-health.ts'
import { createRunDelivery } from '../../host/webhooks/run-delivery.ts'
import { createSecretReader } from '../../host/webhooks/signing-secrets.ts'
import { claimAll } from '../queue/support.ts'
import { until } from '../support/annex.ts'
import { openSeeded } from '../support/seeded-database.ts'

/** A handler of deliveries. By default a sent delivery fails the test. */
const createHandler = ({ clock }: Database, given: Partial<Parameters<typeof createRunDelivery>[0]> = {}) =>
  createRunDelivery({
    secrets: createSecretReader(createSecretBox(new Uint8Array(32)), clock),
    hosts: createDeliveryHosts({ isRequired: false }),
    send: () => assert.fail('the delivery was sent'),
    ...{ clock, random: Math.random, schedule: defaultSchedule, timeoutMs: 1_000, standard: false },
    giveUpAfterMs: 1_000,
    disable: async () => assert.fail('the receiver was disabled'),
    onAttempt: () => {},
    ...given,
  })

it('a delivery whose site installation has been deleted fails without an attempt', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { database, db, installationId } = seeded
  const { clock } = database
  const delivery = { installationId, signedBy: 'site:site_gone', url: 'http://a.example/', hops: 0 }
  const event = { eventId: 'evt_1', eventType: 'told', body: '{}' }
  const [owed] = await queueDeliveries(db, [{ ...delivery, ...event }])
  const seen: unknown[] = []
  const runDelivery = createHandler(database, {
    onAttempt: ({ state, attempt }) => void seen.push(state, attempt),
  })
  const worker = await createWorker({
    database,
    commits: createGroupCommit(db),
    clock,
    hostId: 'host_1',
    random: Math.random,
    handlers: { delivery: runDelivery },
    concurrency: 4,
    lanes: { most: 4, first: 4 },
    onDefect: (error) => assert.fail(String(error)),
  })
  ends.defer(worker.close)
  await until(
    () => db('jobs').select(),
    (jobs) => jobs.length === 0,
  )
  const [failed] = await findDeliveries(db, [owed?.id ?? ''])
  assert.deepEqual([failed?.state, failed?.attempts], ['failed', 0])
  assert.match(failed?.reason ?? '', /^signer_gone: There is no site:site_gone /)
  assert.ok(failed?.finishedAt)
  await until(
    async () => seen,
    ({ length }) => length > 0,
  )
  assert.deepEqual(seen, ['failed', undefined])
})

it('a held delivery is due again if its receiver was resumed meanwhile, else it waits', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database, installationId } = seeded
  const delivery = { installationId, signedBy: 'site:site_gone', url: 'http://a.example/', hops: 0 }
  const event = { eventType: 'told', body: '{}' }
  const events = ['evt_1', 'evt_2', 'evt_3'].map((eventId) => ({ ...delivery, ...event, eventId }))
  await queueDeliveries(db, events)
  const jobs = await claimAll(db, 'delivery')
  const job = jobs.at(-1) ?? assert.fail('it is not due')
  await db('jobs').whereNot({ id: job.id }).update({ state: 'waiting' })
  await db('receivers').update({ state: 'paused' })
  const { begin } = createHandler(database)
  const [run] = await begin(db, [job])
  const { move, stores = [] } = (await run?.(() => {})) ?? assert.fail('nothing came of it')
  assert.equal(move.state, 'waiting')
  await db('receivers').update({ state: 'active' })
  await db.transaction(async (transaction) => {
    await moveJobs(transaction, [{ id: job.id, leaseId: 'lease_1', move }], database.clock.now())
    await runSteps(transaction, stores)
  })
  assert.deepEqual(await db('jobs').orderBy('position').pluck('state'), ['waiting', 'waiting', 'due'])
})

it('a name is resolved for the organization that owns the receiver', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database, installationId } = seeded
  const delivery = { installationId, signedBy: 'installation', url: 'http://a.example/', hops: 0 }
  await queueDeliveries(db, [{ ...delivery, eventId: 'evt_1', eventType: 'told', body: '{}' }])
  const tenants: unknown[] = []
  const { begin } = createHandler(database, {
    secrets: { find: async () => ({ of: () => ({ current: 'whsec_test' }) }), forget() {} },
    async send(_delivery, _secrets, { nowMs, tenant }) {
      tenants.push(tenant)
      return {
        startedAtMs: nowMs,
        durationMs: 1,
        outcome: 'delivered',
        status: 200,
        timing: {},
        requestHeaders: [],
      }
    },
  })
  const [run] = await begin(db, await claimAll(db, 'delivery'))
  await run?.(() => {})
  assert.deepEqual(tenants, [(await db('installations').first()).organizationId])
})

it('a long body is sent whole, and its size counts for its job', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database, installationId } = seeded
  const body = JSON.stringify('é'.repeat(100_000))
  const delivery = { installationId, signedBy: 'installation', hops: 0, eventId: 'evt_1', eventType: 'told' }
  const urls = ['http://a.example/', 'http://b.example/']
  await queueDeliveries(
    db,
    urls.map((url) => ({ ...delivery, url, body })),
  )
  const sent: string[] = []
  const handler = createHandler(database, {
    secrets: { find: async () => ({ of: () => ({ current: 'whsec_test' }) }), forget() {} },
    async send(sending, _secrets, { nowMs }) {
      sent.push(sending.body)
      return {
        startedAtMs: nowMs,
        durationMs: 1,
        outcome: 'delivered',
        status: 200,
        timing: {},
        requestHeaders: [],
      }
    },
  })
  const jobs = await claimAll(db, 'delivery')
  for (const job of jobs) assert.equal(job.size, Buffer.byteLength(job.subject) + Buffer.byteLength(body))
  for (const run of await handler.begin(db, jobs)) await run(() => {})
  assert.deepEqual(sent, [body, body])
})

it('a late failure does not mark a receiver as failing after a newer success', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  await seeded.addReceiver('rcv_a', 'active')
  const commits = createGroupCommit(seeded.database.db)
  const note = createHealthNotes()
  const store = ({ step, item }: ReturnType<typeof note>) => commits.store(step, item)
  const failingSince = async () => (await seeded.db('receivers').where({ id: 'rcv_a' }).first()).failingSince

  await store(note('rcv_a', false, 100))
  assert.equal(await failingSince(), 100)
  const late = note('rcv_a', false, 200)
  await store(note('rcv_a', true, 300))
  assert.equal(await failingSince(), null)
  await store(late)
  assert.equal(await failingSince(), null)
  await store(note('rcv_a', false, 400))
  assert.equal(await failingSince(), 400)
})
