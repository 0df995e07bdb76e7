// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createId } from '../../host/db/ids.ts'
import { countFailed, sendAgain } from '../../host/db/queries/send-again.ts'
import { isPostgres, transact } from '../../host/db/sql.ts'
import { sendFailed } from '../../host/webhooks/send-again.ts'
import { lastOf, planOf } from '../support/query-plan.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

describe('sending failed deliveries again', () => {
  let seeded: Seeded
  beforeEach(async () => {
    seeded = await openSeeded()
    await seeded.addReceiver('rcv_a', 'active')
  })
  afterEach(() => seeded.close())

  async function fail(count: number, given: object = {}): Promise<void> {
    const { db, installationId } = seeded
    const common = {
      eventType: 'told',
      installationId,
      receiverId: 'rcv_a',
      signedBy: 'installation',
      url: 'http://a.example/',
      bodyId: 'body_a',
      hops: 0,
      state: 'failed',
      reason: 'rejected',
      attempts: 1,
      createdAt: 1,
      finishedAt: 1,
    }
    const rows = Array.from({ length: count }, () => ({
      ...{ id: createId('dlv'), eventId: createId('evt'), ...common, ...given },
    }))
    await db.batchInsert('deliveries', rows, 50)
  }

  const untilNow = (given: object = {}) => ({ sinceMs: 0, upToMs: Date.now(), ...given })
  const send = (given: { perSecond?: number; filter?: object; gone?: AbortSignal } = {}) => {
    const { perSecond = 1_000, filter, gone } = given
    return sendFailed(seeded.database, { filter: untilNow(filter), perSecond }, gone)
  }
  const jobs = (): Promise<{ id: string; dueAt: number; state: string }[]> =>
    seeded.db('jobs').where({ kind: 'delivery' }).orderBy('id')
  const failedIds = (): Promise<string[]> =>
    seeded.db('deliveries').where({ state: 'failed' }).orderBy('id').pluck('id')

  it('makes each pending once, the oldest first, and spreads their due times', async () => {
    await fail(600)
    const ids = await failedIds()
    let woken = 0
    seeded.database.onNews(() => {
      woken += 1
    })
    const nowMs = Date.now()
    assert.equal(await send({ perSecond: 500 }), 600)
    assert.equal(woken, 3, 'each batch wakes those that send')
    const pending = await jobs()
    assert.deepEqual(
      pending.map(({ id }) => id.replace('job_', 'dlv_')),
      ids,
    )
    const [first = 0] = pending.map(({ dueAt }) => dueAt)
    assert.ok(first >= nowMs - 1_000 && first <= Date.now() + 1_000, 'the first is due now')
    for (const [n, { dueAt }] of pending.entries()) assert.equal(dueAt, first + n * 2)
    assert.deepEqual(await failedIds(), [])
    const [settled] = await seeded.db('deliveries').where({ id: ids[0] })
    assert.deepEqual([settled.state, settled.reason, settled.finishedAt], ['pending', null, null])
  })

  it('leaves out deliveries that fail after the request', async () => {
    await fail(3)
    await fail(2, { finishedAt: Date.now() + 60_000 })
    assert.equal(await send(), 3)
    assert.equal((await failedIds()).length, 2)
  })

  it('sends a delivery once, though two requests send it', async () => {
    await fail(600)
    const counts = await Promise.all([send(), send()])
    assert.equal(counts[0] + counts[1], 600)
    assert.equal((await jobs()).length, 600)
    assert.equal(await send(), 0)
  })

  it('stops after the current batch when the client leaves, and the next request sends the rest', async () => {
    await fail(600)
    const gone = new AbortController()
    seeded.database.onNews(() => gone.abort())
    assert.equal(await send({ gone: gone.signal }), 250)
    assert.equal((await failedIds()).length, 350)
    assert.equal(await send(), 350)
    assert.equal((await jobs()).length, 600)
  })

  it('rolls back a batch that cannot be committed, and keeps earlier ones', async () => {
    await fail(600)
    let batches = 0
    seeded.database.onNews(() => {
      batches += 1
      if (batches === 1) throw new Error('The host ends here.')
    })
    await assert.rejects(send(), /ends here/)
    const [next = ''] = await failedIds()
    await assert.rejects(
      transact(seeded.db, async (transaction) => {
        assert.deepEqual(await sendAgain(transaction, [{ id: next, dueAt: 1 }]), [next])
        throw new Error('And here.')
      }),
      /And here/,
    )
    assert.deepEqual([batches, (await jobs()).length, (await failedIds()).length], [1, 250, 350])
    assert.equal(await send(), 350)
  })

  it('leaves out and counts the deliveries of a disabled receiver', async () => {
    await seeded.addReceiver('rcv_b', 'disabled')
    await fail(3_000, { receiverId: 'rcv_b' })
    await fail(2)
    assert.deepEqual(await countFailed(seeded.db, untilNow()), { count: 2, disabled: 3_000 })
    assert.equal(await send(), 2)
  })

  it('makes the deliveries of a paused receiver wait for its resume', async () => {
    await seeded.addReceiver('rcv_b', 'paused')
    await fail(2, { receiverId: 'rcv_b' })
    assert.equal(await send(), 2)
    assert.deepEqual(
      (await jobs()).map(({ state }) => state),
      ['waiting', 'waiting'],
    )
  })

  it('sends only the deliveries of its filter', async () => {
    const other = await seeded.addOrganization('other')
    await fail(3, { eventType: 'rare' })
    await fail(4)
    await fail(5, { installationId: other.installationId, createdAt: 10 })
    assert.equal(await send({ filter: { eventType: 'rare' } }), 3)
    assert.equal(await send({ filter: { organizationId: other.organizationId, untilMs: 10 } }), 0)
    assert.equal(await send({ filter: { organizationId: other.organizationId } }), 5)
    assert.equal(await send({ filter: { receiverId: 'rcv_a', installationId: seeded.installationId } }), 4)
  })

  it('finds deliveries by the index of failed ones', async () => {
    const { db } = seeded
    const filter = untilNow({ organizationId: seeded.organizationId, receiverId: 'rcv_a' })
    if (isPostgres(db))
      return assert.match((await lastOf(db, () => countFailed(db, filter))).sql, /reason. is not null/)
    assert.match(
      await planOf(db, () => countFailed(db, filter)),
      /^SCAN deliveries USING INDEX deliveries_failed/,
    )
  })
})
