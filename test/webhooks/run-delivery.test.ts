import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { createCommits } from '../../host/db/commits/group-commit.ts'
import { readDueJobs } from '../../host/db/queries/claims.ts'
import { findDeliveries, loadDeliveries, oweDeliveries } from '../../host/db/queries/deliveries.ts'
import { createWorker } from '../../host/jobs/create-worker.ts'
import { defaultSchedule } from '../../host/jobs/retry-schedule.ts'
import { createHealthNotes } from '../../host/webhooks/endpoint-health.ts'
import { createRunDelivery } from '../../host/webhooks/run-delivery.ts'
import { createSecretReader } from '../../host/webhooks/signing-secrets.ts'
import { until } from '../support/annex.ts'
import { openSeeded } from '../support/seeded-database.ts'

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
  const runDelivery = createRunDelivery({
    secrets: createSecretReader(createSecretBox(new Uint8Array(32)), clock),
    send: () => assert.fail('it was sent'),
    ...{ clock, random: Math.random, schedule: defaultSchedule, timeoutMs: 1_000, standard: false },
    giveUpAfterMs: 1_000,
    giveUp: async () => assert.fail('its endpoint was given up'),
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
  const [read] = await loadDeliveries(db, [small?.id ?? ''])
  assert.deepEqual({ ...small?.held?.loaded }, { ...read })
  const given = { after: '', without: [], perLane: 2, limit: 2, nowMs: seeded.database.clock.now() + 1_000 }
  const due = await readDueJobs(db, 'delivery', given)
  const asRead = due.find(({ id }) => id === small?.held?.job.id)
  assert.deepEqual({ ...asRead, ordered: Boolean(asRead?.ordered) }, small?.held?.job)
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
