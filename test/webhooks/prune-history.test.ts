// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { systemClock } from '../../host/db/database-clock.ts'
import { firstIdAt } from '../../host/db/ids.ts'
import { isOnlyPruner } from '../../host/db/queries/prune.ts'
import { isPostgres } from '../../host/db/sql.ts'
import { pruneHistory } from '../../host/webhooks/prune-history.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const now = Date.UTC(2026, 5, 1)
const day = 86_400_000
const hour = 3_600_000

describe('pruning history', () => {
  let seeded: Seeded
  beforeEach(async () => {
    seeded = await openSeeded()
    // The clock of due times, whatever this machine takes for the time.
    seeded.db.userParams.clock = { ...systemClock, now: () => now }
    await seeded.addReceiver('rcv_1', 'active')
  })
  afterEach(() => seeded.close())

  let number = 0
  const idAt = (prefix: 'dlv' | 'job' | 'att', ms: number): string => {
    number += 1
    return `${firstIdAt(prefix, ms)}7000-8000-${String(number).padStart(12, '0')}`
  }

  /** `ended` days ago; created an hour before, unless it says otherwise. */
  async function addDelivery(
    state: string,
    ended: number,
    created = ended + hour / day,
    of: { eventId?: string; receiverId?: string; bodyId?: string } = {},
  ): Promise<string> {
    const { db, installationId } = seeded
    const [endedAt, createdAt] = [now - ended * day, now - created * day]
    const id = idAt('dlv', createdAt)
    await db('deliveries').insert({
      ...{
        id,
        eventId: id,
        eventType: 'told',
        installationId,
        receiverId: 'rcv_1',
        signedBy: 'installation',
      },
      ...{ url: 'http://a.example/', hops: 0, state, attempts: 1, createdAt },
      ...{ bodyId: of.bodyId ?? (await addBody()), ...of },
      finishedAt: state === 'pending' ? null : endedAt,
    })
    await db('attempts').insert({
      ...{ id: idAt('att', endedAt), deliveryId: id, number: 1, startedAt: endedAt, durationMs: 1 },
      ...{ outcome: 'rejected', status: 400, requestHeaders: '[]' },
    })
    return id
  }

  async function addBody(): Promise<string> {
    number += 1
    await seeded.db('bodies').insert({ id: `body_${number}`, body: '{}' })
    return `body_${number}`
  }

  const addEvent = async (ago: number): Promise<string> => {
    const { db, organizationId } = seeded
    number += 1
    const id = `evt_${number}`
    await db('events').insert({ id, organizationId, type: 't', payload: '{}', receivedAt: now - ago * day })
    return id
  }

  async function addJob(state: string, ago: number): Promise<string> {
    const { db, installationId } = seeded
    const id = idAt('job', now - ago * day)
    await db('jobs').insert({
      ...{ id, kind: 'task', subject: '{}', lane: installationId, state, attempt: 4, dueAt: 0 },
      ...{ owner: installationId, size: 2, ordered: false, position: 1 },
      ...{ createdAt: now - ago * day, finishedAt: state === 'failed' ? now - ago * day : null },
    })
    return id
  }

  const left = async (table: string): Promise<string[]> => (await seeded.db(table).pluck('id')).toSorted()
  const all = { ageMs: undefined, rows: undefined, bytes: undefined }
  const keep30 = { ...all, ageMs: 30 * day }

  it('removes by age, with attempts, and keeps pending deliveries', async () => {
    const gone = [await addDelivery('delivered', 31), await addDelivery('failed', 40)]
    const kept = [
      await addDelivery('pending', 40),
      await addDelivery('delivered', 29),
      // Created long ago, and sent again yesterday.
      await addDelivery('delivered', 1, 90),
    ]
    const events = [await addEvent(31), await addEvent(29)]
    const jobs = [await addJob('failed', 31), await addJob('failed', 29), await addJob('waiting', 31)]
    assert.deepEqual(await pruneHistory(seeded.db, keep30), {
      deliveries: 2,
      events: 1,
      jobs: 1,
      waitingEvents: 0,
    })
    assert.deepEqual(await left('deliveries'), kept.toSorted())
    assert.equal((await seeded.db('attempts').whereIn('deliveryId', gone)).length, 0)
    assert.equal((await left('attempts')).length, kept.length)
    assert.deepEqual(await left('events'), [events[1]])
    assert.deepEqual(await left('jobs'), jobs.slice(1).toSorted())
    assert.deepEqual(await pruneHistory(seeded.db, keep30), {
      deliveries: 0,
      events: 0,
      jobs: 0,
      waitingEvents: 0,
    })
  })

  it('removes jobs of events that waited too long for a resume, except setup events', async () => {
    const { db, installationId } = seeded
    const addWaiting = async (type: string, ago: number): Promise<string> => {
      const id = await addJob('waiting', ago)
      const subject = { level: { kind: 'installation' }, event: { type, text: 'a\u0000b' } }
      await db('jobs')
        .where({ id, lane: installationId })
        .update({ kind: 'event', subject: JSON.stringify(subject) })
      return id
    }
    const old = await addWaiting('site_view', 31)
    const setups = [
      await addWaiting('installation_setup', 31),
      await addWaiting('site_installation_setup', 31),
    ]
    const fresh = [await addWaiting('site_view', 29), await addWaiting('site_view', 28)]
    const none = { deliveries: 0, events: 0, jobs: 0, waitingEvents: 0 }
    assert.deepEqual(await pruneHistory(db, keep30), { ...none, waitingEvents: 1 })
    assert.deepEqual(await left('jobs'), [...setups, ...fresh].toSorted(), old)
    assert.deepEqual(await pruneHistory(db, { ...all, rows: 1 }), { ...none, waitingEvents: 1 })
    assert.deepEqual(await left('jobs'), [...setups, ...fresh.slice(1)].toSorted())
  })

  it('removes bodies without a delivery', async () => {
    const shared = await addBody()
    const ofEvent = { eventId: 'evt_told', bodyId: shared }
    await addDelivery('delivered', 31, 32)
    await addDelivery('delivered', 31, 32, ofEvent)
    const kept = await addDelivery('failed', 29, 32, { ...ofEvent, receiverId: 'rcv_2' })
    await pruneHistory(seeded.db, keep30)
    assert.deepEqual(await left('bodies'), [shared])
    assert.deepEqual(
      (await seeded.db('attempts')).map(({ deliveryId }) => deliveryId),
      [kept],
    )
  })

  it('keeps the newest rows of a limit', async () => {
    const ids: string[] = []
    for (let ago = 9; ago > 0; ago -= 1) ids.push(await addDelivery(ago === 9 ? 'pending' : 'delivered', ago))
    for (let ago = 9; ago > 0; ago -= 1) {
      await addEvent(ago)
      await addJob('failed', ago)
    }
    const pruned = await pruneHistory(seeded.db, { ...all, rows: 3 })
    assert.deepEqual(pruned, { deliveries: 5, events: 6, jobs: 6, waitingEvents: 0 })
    assert.deepEqual(await left('deliveries'), [ids[0], ...ids.slice(-3)].toSorted())
  })

  it('keeps the newest rows whose texts fit a limit', async () => {
    const { db } = seeded
    const addLarge = (ago: number, bodyId?: string) =>
      addDelivery('delivered', ago, ago, bodyId === undefined ? {} : { bodyId })
    const [large, shared] = [await addBody(), await addBody()]
    await db('bodies')
      .where({ id: large })
      .update({ body: 'é'.repeat(30_000) })
    await db('bodies')
      .where({ id: shared })
      .update({ body: 'x'.repeat(50_000) })
    const gone = [await addLarge(9), await addLarge(8, large)]
    // One body for two of them, and 60,000 bytes of the attempts of one.
    const kept = [await addLarge(7, shared), await addLarge(6, shared), await addLarge(5)]
    await db('attempts')
      .where({ deliveryId: kept[2] })
      .update({ responseBody: 'x'.repeat(60_000) })
    for (let ago = 4; ago > 0; ago -= 1) {
      const id = await addEvent(ago)
      await db('events')
        .where({ id })
        .update({ payload: 'x'.repeat(50_000) })
      await addJob('failed', ago)
    }
    const enough = await pruneHistory(db, { ...all, bytes: 100 * 1024 * 1024 })
    assert.deepEqual(enough, { deliveries: 0, events: 0, jobs: 0, waitingEvents: 0 })
    const pruned = await pruneHistory(db, { ...all, bytes: 120_000 })
    assert.deepEqual(pruned, { deliveries: 2, events: 2, jobs: 0, waitingEvents: 0 })
    assert.deepEqual(await left('deliveries'), kept.toSorted())
    assert.ok(!(await left('bodies')).includes(large), gone.join())
  })

  it('takes several steps past many pending deliveries', async () => {
    const ids: string[] = []
    for (let n = 0; n < 600; n += 1)
      ids.push(await addDelivery(n < 300 ? 'pending' : 'delivered', 50 - n / 100))
    assert.equal((await pruneHistory(seeded.db, keep30)).deliveries, 300)
    assert.equal((await left('deliveries')).length, 300)
  })

  it('ends after the current step when its host stops', async () => {
    const ending = new AbortController()
    const { db } = seeded
    for (let n = 0; n < 600; n += 1) await addDelivery('delivered', 50 - n / 100)
    db.on('query-response', (_rows: unknown, { sql }: { sql: string }) => {
      if (sql.startsWith('delete from deliveries')) ending.abort()
    })
    assert.deepEqual(await pruneHistory(db, keep30, ending.signal), {
      deliveries: 250,
      events: 0,
      jobs: 0,
      waitingEvents: 0,
    })
    assert.equal((await pruneHistory(db, { ...all, rows: 10 }, ending.signal)).deliveries, 0)
    assert.equal((await pruneHistory(db, keep30)).deliveries, 350, 'the next one does the rest')
  })

  it('removes nothing without limits', async () => {
    await addDelivery('delivered', 4_000)
    const pruned = await pruneHistory(seeded.db, all)
    assert.deepEqual(pruned, { deliveries: 0, events: 0, jobs: 0, waitingEvents: 0 })
  })

  it('runs in one host at a time on PostgreSQL', async (context) => {
    if (!isPostgres(seeded.db)) return context.skip('needs DATABASE_URL_TEST')
    await addDelivery('delivered', 31)
    await seeded.db.transaction(async (other) => {
      assert.ok(await isOnlyPruner(other))
      assert.equal((await pruneHistory(seeded.db, keep30)).deliveries, 0)
    })
    assert.equal((await pruneHistory(seeded.db, keep30)).deliveries, 1)
  })
})
