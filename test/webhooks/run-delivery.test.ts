import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { createCommits, runSteps } from '../../host/db/commits/group-commit.ts'
import type { Database } from '../../host/db/open-database.ts'
import { readDueJobs } from '../../host/db/queries/claims.ts'
import {
  findDeliveries,
  type LoadedDelivery,
  loadDeliveries,
  oweDeliveries,
} from '../../host/db/queries/deliveries.ts'
import { moveJobs } from '../../host/db/queries/jobs.ts'
import { createWorker } from '../../host/jobs/create-worker.ts'
import { defaultSchedule } from '../../host/jobs/retry-schedule.ts'
import { createHealthNotes } from '../../host/webhooks/endpoint-health.ts'
import { createRunDelivery } from '../../host/webhooks/run-delivery.ts'
import { createSecretReader } from '../../host/webhooks/signing-secrets.ts'
import { until } from '../support/annex.ts'
import { openSeeded } from '../support/seeded-database.ts'

/** What does deliveries, where none is sent. */
const createHandler = ({ clock }: Database, given: Partial<Parameters<typeof createRunDelivery>[0]> = {}) =>
  createRunDelivery({
    secrets: createSecretReader(createSecretBox(new Uint8Array(32)), clock),
    send: () => assert.fail('it was sent'),
    ...{ clock, random: Math.random, schedule: defaultSchedule, timeoutMs: 1_000, standard: false },
    giveUpAfterMs: 1_000,
    giveUp: async () => assert.fail('its endpoint was given up'),
    onAttempt: () => {},
    ...given,
  })

it('a delivery whose site installation is gone is kept as failed, and sent nowhere', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { database, db, installationId } = seeded
  const { clock } = database
  const delivery = { installationId, signedBy: 'site:site_gone', url: 'http://a.example/', hops: 0 }
  const event = { eventId: 'evt_1', eventType: 'told', body: '{}' }
  const [owed] = await oweDeliveries(db, [{ ...delivery, ...event }])
  const seen: unknown[] = []
  const runDelivery = createHandler(database, {
    onAttempt: ({ state, attempt }) => void seen.push(state, attempt),
  })
  const worker = await createWorker({
    ...{ database, ...createCommits(database), clock, hostId: 'host_1', random: Math.random },
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

it('a delivery that is laid aside goes on where its endpoint was resumed meanwhile, and others are left to the resume', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database, installationId } = seeded
  const delivery = { installationId, signedBy: 'site:site_gone', url: 'http://a.example/', hops: 0 }
  const event = { eventType: 'told', body: '{}' }
  const events = ['evt_1', 'evt_2', 'evt_3'].map((eventId) => ({ ...delivery, ...event, eventId }))
  const [, , last] = await oweDeliveries(db, events)
  const { job, loaded } = last?.held ?? assert.fail('it is not due')
  const claimed = { ...job, subject: '', leaseId: 'lease_1', claimedAt: 1 }
  await db('jobs').whereNot({ id: job.id }).update({ state: 'waiting' })
  await db('jobs').where({ id: job.id }).update({ state: 'running', leaseId: 'lease_1' })
  await db('endpoints').update({ state: 'paused' })
  const { begin } = createHandler(database)
  const [run] = await begin(db, [{ job: claimed, loaded: loaded as LoadedDelivery }])
  const { move, stores = [] } = (await run?.()) ?? assert.fail('nothing came of it')
  assert.equal(move.state, 'waiting')
  await db('endpoints').update({ state: 'active' })
  await db.transaction(async (transaction) => {
    await moveJobs(transaction, [{ id: job.id, leaseId: 'lease_1', move }], database.clock.now())
    await runSteps(transaction, stores)
  })
  assert.deepEqual(await db('jobs').orderBy('position').pluck('state'), ['waiting', 'waiting', 'due'])
})

it('a name is looked up for the organization that the endpoint belongs to', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database, installationId } = seeded
  const delivery = { installationId, signedBy: 'installation', url: 'http://a.example/', hops: 0 }
  const [owed] = await oweDeliveries(db, [{ ...delivery, eventId: 'evt_1', eventType: 'told', body: '{}' }])
  const { job, loaded } = owed?.held ?? assert.fail('it is not due')
  const askers: unknown[] = []
  const { begin } = createHandler(database, {
    secrets: { find: async () => ({ of: () => ({ current: 'whsec_test' }) }), forget() {} },
    async send(_delivery, _secrets, { nowMs, asker }) {
      askers.push(asker)
      const texts = { timing: '{}', requestHeaders: '[]' }
      return { startedAtMs: nowMs, durationMs: 1, outcome: 'delivered', status: 200, ...texts }
    },
  })
  const claimed = { ...job, subject: '', leaseId: 'lease_1', claimedAt: 1 }
  const [run] = await begin(db, [{ job: claimed, loaded: loaded as LoadedDelivery }])
  await run?.()
  assert.deepEqual(askers, [(await db('installations').first()).organizationId])
})

it('what is handed over of a delivery is what would be read of it, and how much text that is', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, installationId } = seeded
  const delivery = { installationId, signedBy: 'installation', url: 'http://a.example/', hops: 1 }
  const [small, large] = await oweDeliveries(db, [
    { ...delivery, eventId: 'evt_1', eventType: 'told', body: '{"a":1}' },
    { ...delivery, eventId: 'evt_2', eventType: 'told', body: JSON.stringify('x'.repeat(5_000)) },
  ])
  assert.deepEqual([small?.held?.length, large?.held?.length], [7, 5_002])
  const [{ bodyLength, ...read } = assert.fail()] = await loadDeliveries(db, [small?.id ?? ''])
  assert.deepEqual({ ...small?.held?.loaded }, read)
  assert.equal(bodyLength, 7)
  const given = { after: '', without: [], perLane: 2, limit: 2, nowMs: seeded.database.clock.now() + 1_000 }
  const due = await readDueJobs(db, 'delivery', given)
  const { subjectLength, ...asRead } = due.find(({ id }) => id === small?.held?.job.id) ?? assert.fail()
  assert.deepEqual({ ...asRead, ordered: Boolean(asRead.ordered) }, small?.held?.job)
  assert.equal(subjectLength, asRead.subject?.length)
})

it('a long body is not read before its delivery is claimed, and is sent whole then', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  const { db, database, installationId } = seeded
  const body = JSON.stringify('é'.repeat(100_000))
  const delivery = { installationId, signedBy: 'installation', hops: 0, eventId: 'evt_1', eventType: 'told' }
  const urls = ['http://a.example/', 'http://b.example/']
  await oweDeliveries(
    db,
    urls.map((url) => ({ ...delivery, url, body })),
  )
  const sent: string[] = []
  const handler = createHandler(database, {
    secrets: { find: async () => ({ of: () => ({ current: 'whsec_test' }) }), forget() {} },
    async send(sending, _secrets, { nowMs }) {
      sent.push(sending.body)
      const texts = { timing: '{}', requestHeaders: '[]' }
      return { startedAtMs: nowMs, durationMs: 1, outcome: 'delivered', status: 200, ...texts }
    },
  })
  const given = { after: '', without: [], perLane: 2, limit: 2, nowMs: database.clock.now() + 1_000 }
  const jobs = await readDueJobs(db, 'delivery', given)
  const loaded = (await handler.load?.(db, jobs)) ?? []
  for (const one of loaded) {
    assert.equal(one?.body, null)
    assert.equal(handler.lengthOf?.(one), Buffer.byteLength(body))
  }
  const claimed = jobs.map((job, n) => ({
    job: { ...job, subject: '', leaseId: 'lease_1', claimedAt: 1 },
    loaded: loaded[n],
  }))
  for (const run of await handler.begin(db, claimed)) await run()
  assert.deepEqual(sent, [body, body])
})

it('a failure that is stored late says nothing of an endpoint that has answered since', async () => {
  await using ends = new AsyncDisposableStack()
  const seeded = await openSeeded()
  ends.defer(seeded.close)
  await seeded.addEndpoint('ep_a', 'active')
  const { commits } = createCommits(seeded.database)
  const note = createHealthNotes()
  const store = ({ step, item }: ReturnType<typeof note>) => commits.store(step, item)
  const failingSince = async () => (await seeded.db('endpoints').where({ id: 'ep_a' }).first()).failingSince

  await store(note('ep_a', false, 100))
  assert.equal(await failingSince(), 100)
  const late = note('ep_a', false, 200)
  await store(note('ep_a', true, 300))
  assert.equal(await failingSince(), null)
  await store(late)
  assert.equal(await failingSince(), null)
  await store(note('ep_a', false, 400))
  assert.equal(await failingSince(), 400)
})
