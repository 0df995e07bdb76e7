// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createId, withPrefix } from '../../../host/db/ids.ts'
import type { Delivery } from '../../../host/db/queries/deliveries.ts'
import { insertInstallation } from '../../../host/db/queries/installations.ts'
import { ensureIntegration } from '../../../host/db/queries/integrations.ts'
import { countPendingJobs } from '../../../host/db/queries/jobs.ts'
import { type DeliveryFilter, listDeliveries } from '../../../host/db/queries/list-deliveries.ts'
import { findPlacesOf } from '../../../host/db/queries/places.ts'
import { sumUsage } from '../../../host/db/queries/receipts.ts'
import { setOrdered } from '../../../host/db/queries/receivers.ts'
import { listFailedJobs } from '../../../host/db/queries/script-jobs.ts'
import { countSiteViews, listSiteViews } from '../../../host/db/queries/site-views.ts'
import { listExpiredStores } from '../../../host/db/queries/stores.ts'
import { deletePendingEvents } from '../../../host/db/queries/uninstall.ts'
import { isPostgres } from '../../../host/db/sql.ts'
import { createChanges, followDeliveries } from '../../../host/webhooks/follow-deliveries.ts'
import { type Asked, planOf, readRowsOf } from '../../support/query-plan.ts'
import { openSeeded, type Seeded } from '../../support/seeded-database.ts'

/** More than a page of any list. */
const count = 6_500

describe('lists of thousands of records', () => {
  let seeded: Seeded
  let all: Delivery[]
  let other: { organizationId: string; installationId: string; second: string }

  before(async () => {
    seeded = await openSeeded()
    const { db } = seeded
    await seeded.addReceiver('rcv_busy', 'active')
    await seeded.addReceiver('rcv_quiet', 'active')
    const { organizationId, installationId } = await seeded.addOrganization('other')
    const keys = { signingSecret: 'sealed', loadedBy: null }
    await ensureIntegration(db, { name: 'second', organizationId, folder: 'second', ...keys })
    const installed = { integration: 'second', organizationId, signingSecret: 'sealed' }
    const second = (await insertInstallation(db, installed))?.id ?? ''
    other = { organizationId, installationId, second }
    await addReceiver('rcv_other', other.installationId)
    await addReceiver('rcv_other_second', other.second)
    all = Array.from({ length: count }, (_, n) => toDelivery(n)).reverse()
    await db.batchInsert('deliveries', all, 100)
    const owed = all.filter(({ state }) => state === 'pending')
    await db.batchInsert('jobs', owed.map(toJob), 100)
    await db.batchInsert('attempts', all.toReversed().map(toAttempt), 100)
  })
  after(() => seeded.close())

  async function addReceiver(id: string, installationId: string): Promise<void> {
    const key = { installationId, signedBy: 'installation', url: `http://${id}.example/` }
    const state = { state: 'active', ordered: false, createdAt: 0, updatedAt: 0 }
    await seeded.db('receivers').insert({ id, ...key, ...state })
  }

  /** The first deliveries go to the quiet receiver. One in five is another organization's, one in ten failed, one in 13 is pending. */
  function toDelivery(n: number): Delivery {
    const receiverId =
      n % 5 === 3 ? (n < 3_000 ? 'rcv_other_second' : 'rcv_other') : n < 60 ? 'rcv_quiet' : 'rcv_busy'
    const installationIds: Record<string, string> = {
      rcv_other: other.installationId,
      rcv_other_second: other.second,
    }
    const state = n % 10 === 1 ? 'failed' : n % 13 === 2 ? 'pending' : 'delivered'
    return {
      id: createId('dlv'),
      eventId: `evt_${n}`,
      eventType: n < 2 ? 'rare' : 'told',
      installationId: installationIds[receiverId] ?? seeded.installationId,
      receiverId,
      signedBy: 'installation',
      url: 'http://a.example/',
      bodyId: 'body_a',
      hops: 0,
      state,
      reason: state === 'failed' ? 'rejected' : null,
      attempts: 1,
      createdAt: Date.now(),
      finishedAt: state === 'pending' ? null : Date.now(),
      refusedId: null,
      requestId: n % 2 === 0 ? `req_${n}` : null,
    }
  }

  const toJob = ({ id, receiverId, installationId }: Delivery): object => ({
    id: withPrefix(id, 'job'),
    kind: 'delivery',
    subject: '{}',
    lane: receiverId,
    owner: installationId,
    size: 2,
    state: 'due',
    attempt: 1,
    ordered: false,
    position: 1,
    dueAt: 5,
    createdAt: 1,
  })

  const toAttempt = ({ id }: Delivery): object => ({
    ...{ id: createId('att'), deliveryId: id, number: 1, startedAt: 1, durationMs: 1 },
    ...{ outcome: 'delivered', requestHeaders: '{}' },
  })

  async function listAll(find: (before: string | undefined) => Promise<{ id: string }[]>): Promise<string[]> {
    const ids: string[] = []
    for (let found = await find(undefined); found.length > 0; found = await find(ids.at(-1))) {
      ids.push(...found.map(({ id }) => id))
    }
    return ids
  }

  const isOf = (state: string) => (one: Delivery) => one.state === state
  const isQuiet = ({ receiverId }: Delivery) => receiverId === 'rcv_quiet'
  const isOther = ({ receiverId }: Delivery) => receiverId.startsWith('rcv_other')
  const idsOf = (fits: (delivery: Delivery) => boolean): string[] => all.filter(fits).map(({ id }) => id)

  it('find all deliveries of a filter in pages, the newest first', async () => {
    const { installationId, organizationId } = seeded
    const expected: [DeliveryFilter, (delivery: Delivery) => boolean][] = [
      [{}, () => true],
      [{ eventType: 'rare' }, ({ eventType }) => eventType === 'rare'],
      [{ eventId: 'evt_7' }, ({ eventId }) => eventId === 'evt_7'],
      [{ requestId: 'req_8' }, ({ requestId }) => requestId === 'req_8'],
      [{ organizationId: other.organizationId, requestId: 'req_10' }, () => false],
      [{ state: 'pending' }, isOf('pending')],
      [{ state: 'pending', receiverId: 'rcv_quiet' }, (one) => isOf('pending')(one) && isQuiet(one)],
      [{ state: 'failed' }, isOf('failed')],
      [
        { state: 'failed', organizationId: other.organizationId },
        (one) => isOf('failed')(one) && isOther(one),
      ],
      [{ state: 'delivered', receiverId: 'rcv_quiet' }, (one) => isOf('delivered')(one) && isQuiet(one)],
      [{ receiverId: 'rcv_quiet' }, isQuiet],
      [{ installationId, receiverId: 'rcv_other' }, () => false],
      [{ receiverId: 'rcv_none' }, () => false],
      [{ organizationId: other.organizationId }, isOther],
      [{ organizationId: other.organizationId, eventType: 'rare' }, () => false],
      [{ organizationId, eventType: 'rare' }, ({ eventType }) => eventType === 'rare'],
      [{ untilMs: 5 }, () => false],
      [{ sinceMs: Date.now() + 60_000 }, () => false],
    ]
    for (const [filter, fits] of expected) {
      for (const limit of [200, 1_000]) {
        const find = (before: string | undefined) => listDeliveries(seeded.db, filter, { before, limit })
        assert.deepEqual(await listAll(find), idsOf(fits), JSON.stringify({ filter, limit }))
      }
    }
  })

  it('read a page by an index in the order of ids', async (context) => {
    const { db, installationId, organizationId } = seeded
    if (isPostgres(db)) return context.skip('its plans depend on statistics')
    const filters: DeliveryFilter[] = [
      {},
      { state: 'pending' },
      { state: 'failed', organizationId },
      { state: 'delivered', installationId },
      { installationId },
      { receiverId: 'rcv_quiet' },
      { eventType: 'told', sinceMs: 1, untilMs: Date.now() },
    ]
    for (const filter of filters) {
      const pages: Asked[] = []
      const take = (query: Asked) => query.sql.includes(' limit ') && pages.push(query)
      db.on('query', take)
      await listDeliveries(db, filter, { before: all[0]?.id, limit: 50 })
      db.off('query', take)
      const page = pages.find(({ sql }) => sql.includes('`deliveries`.*'))
      const plan = await planOf(db, () => db.raw(page?.sql ?? '', (page?.bindings ?? []) as never))
      assert.match(plan, /USING INDEX/, JSON.stringify(filter))
      assert.doesNotMatch(plan, /TEMP B-TREE/, JSON.stringify(filter))
    }
  })

  it('find the deliveries of a request or event by its index', async (context) => {
    const { db, organizationId, installationId } = seeded
    if (isPostgres(db)) return context.skip('its plans depend on statistics')
    for (const filter of [{}, { organizationId }, { installationId }]) {
      const page = { before: undefined, limit: 50 }
      const ofRequest = () => listDeliveries(db, { ...filter, requestId: 'req_8' }, page)
      assert.match(await planOf(db, ofRequest), /INDEX deliveries_of_request/, JSON.stringify(filter))
      const ofEvent = () => listDeliveries(db, { ...filter, eventId: 'evt_7' }, page)
      assert.match(await planOf(db, ofEvent), /INDEX \S*event\S* \(event_id=\?\)/, JSON.stringify(filter))
    }
  })

  it('send one query for an organization, which reads a page of each installation', async () => {
    const { db } = seeded
    const filter: DeliveryFilter = { organizationId: other.organizationId, state: 'delivered' }
    const ask = () => listDeliveries(db, filter, { before: all[0]?.id, limit: 20 })
    const asked: Asked[] = []
    const take = (query: Asked) => asked.push(query)
    db.on('query', take)
    await ask()
    db.off('query', take)
    assert.equal(asked.length, 1)
    if (!isPostgres(db)) {
      const plan = await planOf(db, ask)
      assert.match(plan, /SEARCH deliveries USING (COVERING )?INDEX deliveries_installation_id_id_index/)
      assert.match(plan, /SEARCH found USING INDEX \S+ \(id=\?\)/)
      return
    }
    await db.raw('analyze deliveries')
    const { plan, read } = await readRowsOf(db, ask)
    assert.ok(Math.max(...read) <= 100, plan)
  })

  it('do not slow down other requests, which read few rows', async (context) => {
    const { db, installationId } = seeded
    if (isPostgres(db)) return context.skip('its plans depend on statistics')
    const siteId = 'site_0190a1b2-0000-7000-8000-000000000000'
    const asked: [string, () => Promise<unknown>][] = [
      ['a site by its slug', () => findPlacesOf(db, 'site', 'docs', {})],
      ['a site of an integration', () => findPlacesOf(db, 'site', siteId, { integration: 'echo' })],
      ['a task that is queued', () => countPendingJobs(db, 'task', installationId)],
      ['an uninstall', () => deletePendingEvents(db, { installationId, kind: 'account', placeId: '' })],
      ['an order for a receiver', () => setOrdered(db, 'rcv_quiet', true)],
      ['values that expire', () => listExpiredStores(db, 1, 10)],
      ['views of a site', () => listSiteViews(db, siteId, { before: { receivedAt: 1, id: 'e' }, limit: 50 })],
      ['counts', () => countSiteViews(db, siteId, { by: 'day', from: 0, to: 1, limit: 50 })],
    ]
    for (const [what, ask] of asked) {
      const plan = await planOf(db, ask)
      assert.match(plan, /SEARCH|USING INDEX jobs_leased/, what)
      assert.doesNotMatch(plan, /SCAN (?!jobs USING INDEX jobs_leased)/, what)
    }
  })

  it('find all failed jobs of a filter in pages, the newest first', async () => {
    const { db, installationId, organizationId } = seeded
    const failed = Array.from({ length: count }, (_, n) => ({
      ...{ id: createId('job'), kind: n % 4 === 1 ? 'task' : 'event', subject: '{}', state: 'failed' },
      lane: n < 5 ? other.installationId : n % 7 === 1 ? other.second : installationId,
      owner: installationId,
      size: 2,
      ordered: false,
      position: 1,
      ...{ attempt: 4, dueAt: 1, createdAt: 1 },
    })).reverse()
    await db.batchInsert('jobs', failed, 100)
    type Job = (typeof failed)[number]
    const expected: [Parameters<typeof listFailedJobs>[1], (job: Job) => boolean][] = [
      [{}, () => true],
      [{ kind: 'task' }, ({ kind }) => kind === 'task'],
      [{ kind: 'event', installationId }, ({ kind, lane }) => kind === 'event' && lane === installationId],
      [{ installationId: other.installationId }, ({ lane }) => lane === other.installationId],
      [{ organizationId }, ({ lane }) => lane === installationId],
      [{ organizationId: other.organizationId }, ({ lane }) => lane !== installationId],
      [{ installationId: 'none' }, () => false],
    ]
    for (const [filter, fits] of expected) {
      const ids = failed.filter(fits).map(({ id }) => id)
      const find = (before: string | undefined) => listFailedJobs(db, filter, { before, limit: 900 })
      assert.deepEqual(await listAll(find), ids, JSON.stringify(filter))
    }
  })

  it('find all sums of usage in pages, also after months without any', async () => {
    const { db, installationId, organizationId } = seeded
    const hour = 3_600_000
    const now = Math.floor(Date.now() / hour) * hour
    const hoursAgo = [0, 1, 2, 30, 31, 2_000, 2_001]
    const row = (owner: string, ago: number) => ({
      ...{ owner, minute: now - ago * hour, integration: 'echo', installationId, dispatches: 1, failed: 0 },
      ...{ cpuMs: 1, wallMs: 1, egressCalls: 0, egressBytes: 0, hostCalls: 0, maxHeapBytes: 1 },
    })
    await db('usage').insert([...hoursAgo.map((ago) => row(installationId, ago)), row(other.second, 5)])
    const expected = hoursAgo.map((ago) => now - ago * hour)
    for (const where of [{ installationId }, { organizationId }]) {
      for (const limit of [1, 2, 3, 100]) {
        const found: number[] = []
        for (let before: number | undefined; ; ) {
          const page = await sumUsage(db, {
            ...where,
            spanMs: hour,
            limit,
            ...(before !== undefined && { before }),
          })
          if (page.length === 0) break
          found.push(...page.map(({ at }) => at))
          before = found.at(-1)
        }
        assert.deepEqual(found, expected, JSON.stringify({ where, limit }))
      }
    }
  })

  it('find all deliveries of a filter for a live feed with an earlier start', async () => {
    const filters: [DeliveryFilter, (delivery: Delivery) => boolean][] = [
      [{ receiverId: 'rcv_quiet' }, isQuiet],
      [{ organizationId: other.organizationId }, isOther],
    ]
    for (const [filter, fits] of filters) {
      const expected = idsOf(fits).reverse()
      const gone = new AbortController()
      const seen: Record<string, string[]> = { pending: [], attempt: [] }
      for await (const items of followDeliveries(
        seeded.database,
        createChanges(),
        gone.signal,
        filter,
        '0',
      )) {
        for (const { kind, delivery } of items) seen[kind]?.push(delivery.id)
        if (seen.attempt?.length === expected.length) gone.abort()
      }
      assert.deepEqual(seen, { pending: expected, attempt: expected }, JSON.stringify(filter))
    }
  })
})
