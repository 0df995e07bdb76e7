// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createGroupCommit } from '../../host/db/group-commit.ts'
import { findDeliveries } from '../../host/db/queries/deliveries.ts'
import { createBacklogQuota } from '../../host/queue/backlog.ts'
import type { DispatchContext } from '../../host/sandbox/target.ts'
import { createDeliveryCall } from '../../host/webhooks/delivery-call.ts'
import { createDeliveryHosts } from '../../host/webhooks/delivery-hosts.ts'
import { until } from '../support/annex.ts'
import { openSeeded } from '../support/seeded-database.ts'

const event = { id: 'evt_1', type: 'told' }

it('a delivery is stored before the script continues, and wakes its worker', async () => {
  await using ends = new AsyncDisposableStack()
  const { database, db, installationId, close } = await openSeeded()
  ends.defer(close)
  let woken = 0
  const backlog = createBacklogQuota(db, { jobs: 2, bytes: 1_000 })
  database.onNews((news) => {
    assert.equal(news, 'delivery')
    woken += 1
  })
  const hosts = createDeliveryHosts({ isRequired: false })
  const call = createDeliveryCall(db, { commits: createGroupCommit(database.db), backlog, hosts })
  const queue = async (about: Partial<DispatchContext>) => {
    const context: DispatchContext = {
      requestId: 'req_1',
      integration: 'queue',
      scopes: [],
      installationId,
      hops: 0,
      ...about,
      level: { kind: 'installation', installationId, integration: 'queue' } as never,
    }
    const given = { context, body: new Uint8Array(), signal: AbortSignal.timeout(60_000) }
    const { value } = await call.run({ url: 'http://a.example/', event: { type: 'told' } }, given)
    return value as { id: string; created: boolean }
  }
  const first = await queue({ event })
  assert.deepEqual([first.created, woken], [true, 1])
  assert.equal((await findDeliveries(db, [first.id])).length, 1)
  assert.deepEqual(await queue({ event }), { id: first.id, created: false }, 'the event has it already')
  assert.equal(woken, 1)
  await assert.rejects(queue({}), {
    code: 'backlog_full',
    message: /^The delivery was not stored: the installation inst_\S+ has 2 pending deliveries/,
  })
})

it('simultaneous deliveries share one limit', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, installationId, close } = await openSeeded()
  ends.defer(close)
  const backlog = createBacklogQuota(db, { jobs: 10, bytes: 1_000 })
  const takes = await Promise.allSettled(Array.from({ length: 50 }, () => backlog.take(installationId, 1)))
  assert.equal(takes.filter(({ status }) => status === 'fulfilled').length, 10)
})

it('an installation can queue again after deliveries are settled, and text counts, too', async () => {
  await using ends = new AsyncDisposableStack()
  const { db, installationId, close } = await openSeeded()
  ends.defer(close)
  const backlog = createBacklogQuota(db, { jobs: 100, bytes: 1_000 })
  await backlog.take(installationId, 900)
  await assert.rejects(backlog.take(installationId, 200), { code: 'backlog_full' })
  await backlog.take('inst_other', 900)
  // The table is counted again after a second: nothing of it was stored.
  await until(
    () =>
      backlog.take(installationId, 200).then(
        () => true,
        () => false,
      ),
    (isTaken) => isTaken,
  )
})
