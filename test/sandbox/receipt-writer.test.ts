import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { findReceipt, listReceipts, sumUsage } from '../../host/db/queries/receipts.ts'
import { createNote, type OutboundRequests } from '../../host/egress/outbound-requests.ts'
import type { Receipt } from '../../host/sandbox/receipt.ts'
import { createReceiptWriter } from '../../host/sandbox/receipt-writer.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const minute = 60_000
const noon = Date.UTC(2026, 0, 1, 12)

const receiptOf = (installationId: string | undefined, more: Partial<Receipt> = {}): Receipt => ({
  requestId: 'req_1',
  integration: 'echo',
  ...(installationId !== undefined && { installationId }),
  type: 'fetch',
  startedAtMs: noon,
  cpuMs: 1.25,
  wallMs: 4,
  heapBytes: 3_000_000,
  egressCalls: 1,
  egressBytes: 100,
  hostCalls: 2,
  deliveries: 0,
  tasks: 0,
  outcome: 'ok',
  ...more,
})

describe('the receipts of dispatches', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
  let given: TestDatabase
  let database: Database
  let nowMs = noon
  const defects: unknown[] = []
  const open = () =>
    createReceiptWriter(database.db, {
      redact: (_owner, text) => text.replaceAll('s3cret', '[secret]'),
      onDefect: (error) => defects.push(error),
      now: () => nowMs,
    })
  before(async () => {
    given = await createTestDatabase(folder)
    database = await openDatabase(given.url, folder)
  })
  after(async () => {
    await database.close()
    await given.drop()
    rmSync(folder, { recursive: true })
    assert.deepEqual(defects, [])
  })

  it('are all stored unchanged when they are few', async () => {
    const writer = open()
    writer.take(receiptOf('inst_few', { requestId: 'req_a', status: 204 }))
    writer.take(receiptOf('inst_few', { requestId: 'req_b', outcome: 'script_error' }))
    await writer.flush()
    const found = await listReceipts(database.db, { installationId: 'inst_few', limit: 10 })
    assert.deepEqual(
      found.map(({ requestId }) => requestId),
      ['req_b', 'req_a'],
    )
    const { id, ...first } = found[1] ?? {}
    assert.equal(typeof id, 'number')
    assert.deepEqual(first, {
      owner: 'inst_few',
      integration: 'echo',
      installationId: 'inst_few',
      requestId: 'req_a',
      type: 'fetch',
      eventId: null,
      startedAt: noon,
      cpuMs: 1.25,
      wallMs: 4,
      heapBytes: 3_000_000,
      egressCalls: 1,
      egressBytes: 100,
      hostCalls: 2,
      deliveries: 0,
      tasks: 0,
      outcome: 'ok',
      status: 204,
    })
    await writer.close()
  })

  it('of a busy installation are summed, and the failed and slowest ones are stored', async () => {
    const writer = open()
    for (let n = 0; n < 20_000; n += 1) {
      writer.take(receiptOf('inst_busy', { wallMs: n % 1000, startedAtMs: noon + n }))
    }
    for (let n = 0; n < 7; n += 1) writer.take(receiptOf('inst_busy', { outcome: 'cpu_limit', wallMs: 0.5 }))
    writer.take(receiptOf('inst_quiet'))
    await writer.flush()
    const kept = await listReceipts(database.db, { installationId: 'inst_busy', limit: 200 })
    assert.equal(kept.length, 50)
    assert.equal(kept.filter(({ outcome }) => outcome === 'cpu_limit').length, 7)
    assert.ok(kept.every(({ outcome, wallMs }) => outcome !== 'ok' || wallMs >= 997))
    const starts = kept.map(({ startedAt }) => startedAt)
    assert.deepEqual(starts, starts.toSorted().reverse())
    assert.equal((await listReceipts(database.db, { installationId: 'inst_quiet', limit: 10 })).length, 1)
    const [sum] = await sumUsage(database.db, { installationId: 'inst_busy', spanMs: minute, limit: 10 })
    assert.equal(sum?.dispatches, 20_007)
    assert.equal(sum?.failed, 7)
    assert.equal(sum?.cpuMs, 1.25 * 20_007)
    assert.equal(sum?.egressBytes, 100 * 20_007)
    assert.equal(sum?.maxHeapBytes, 3_000_000)
    await writer.close()
  })

  it('are summed across seconds of a minute, across hosts, and by the hour', async () => {
    const [one, other] = [open(), open()]
    for (const [at, writer] of [one, other, one].entries()) {
      nowMs = noon + at * 1000
      writer.take(receiptOf('inst_hours', { heapBytes: at }))
      await writer.flush()
    }
    nowMs = noon + 2 * minute
    one.take(receiptOf('inst_hours', { heapBytes: 1 }))
    await one.flush()
    nowMs = noon
    const where = { installationId: 'inst_hours', limit: 10 }
    const minutes = await sumUsage(database.db, { ...where, spanMs: minute })
    assert.deepEqual(
      minutes.map(({ at, dispatches, maxHeapBytes }) => [at, dispatches, maxHeapBytes]),
      [
        [noon + 2 * minute, 1, 1],
        [noon, 3, 2],
      ],
    )
    const hours = await sumUsage(database.db, { ...where, spanMs: 60 * minute })
    assert.deepEqual(
      hours.map(({ at, dispatches }) => [at, dispatches]),
      [[noon, 4]],
    )
    await Promise.all([one.close(), other.close()])
  })

  it('have the outbound requests, without the secrets of their owner', async () => {
    const writer = open()
    const requests: OutboundRequests = { kept: [], leftOut: 2 }
    const note = createNote(requests, false)
    note.begin('GET', 'https://a.example/s3cret/items?key=1')
    writer.take(receiptOf('inst_out', { requests }))
    // The answer comes before the receipts are stored.
    note.answered(200)
    await writer.flush()
    const [listed] = await listReceipts(database.db, { installationId: 'inst_out', limit: 1 })
    assert.equal(listed && 'outboundRequests' in listed, false)
    const found = await findReceipt(database.db, listed?.id ?? 0, {})
    const { requests: stored, leftOut } = JSON.parse(found?.outboundRequests ?? '')
    assert.equal(leftOut, 2)
    assert.deepEqual(
      [stored[0].host, stored[0].path, stored[0].status],
      ['a.example', '/[secret]/items', 200],
    )
    await writer.close()
  })

  it('of an integration as a whole are separate from those of its installations', async () => {
    const writer = open()
    writer.take(receiptOf(undefined, { integration: 'whole' }))
    writer.take(receiptOf('inst_of_whole', { integration: 'whole' }))
    await writer.flush()
    const found = await listReceipts(database.db, { integration: 'whole', limit: 10 })
    assert.deepEqual(
      found.map(({ owner }) => owner),
      ['inst_of_whole', 'whole'],
    )
    await writer.close()
  })

  it('with invalid numbers are stored as 0, and do not stop the receipts of other owners', async () => {
    const writer = open()
    const broken = {
      cpuMs: Number.NaN,
      heapBytes: -1,
      hostCalls: 1e300,
      egressBytes: Number.POSITIVE_INFINITY,
    }
    writer.take(receiptOf('inst_broken', { ...broken, type: 't'.repeat(10_000) }))
    writer.take(receiptOf('inst_beside'))
    await writer.flush()
    const [found] = await listReceipts(database.db, { installationId: 'inst_broken', limit: 10 })
    assert.equal(found?.cpuMs, 0)
    assert.equal(found?.heapBytes, 0)
    assert.equal(found?.type.length, 100)
    assert.equal((await listReceipts(database.db, { installationId: 'inst_beside', limit: 10 })).length, 1)
    await writer.close()
  })

  it('are summed also after a failure of the database', async () => {
    const writer = open()
    await database.db.schema.renameTable('usage', 'away')
    for (let n = 0; n < 3; n += 1) {
      writer.take(receiptOf('inst_outage'))
      await writer.flush()
    }
    assert.equal(defects.splice(0).length, 3)
    await database.db.schema.renameTable('away', 'usage')
    writer.take(receiptOf('inst_outage'))
    await writer.flush()
    const [sum] = await sumUsage(database.db, { installationId: 'inst_outage', spanMs: minute, limit: 1 })
    assert.equal(sum?.dispatches, 4)
    await writer.close()
  })

  it('are pruned to the newest ones, in steps', async () => {
    const writer = open()
    // 50 of each flush are kept: 5,000 in 100 of them.
    for (let flush = 0; flush < 115; flush += 1) {
      for (let n = 0; n < 50; n += 1) writer.take(receiptOf('inst_old', { requestId: `req_${flush}` }))
      await writer.flush()
    }
    const count = await database.db('receipts').where({ owner: 'inst_old' }).count({ count: '*' }).first()
    assert.ok(Number(count?.count) <= 5_500, `${count?.count}`)
    const [newest] = await listReceipts(database.db, { installationId: 'inst_old', limit: 1 })
    assert.equal(newest?.requestId, 'req_114')
    await writer.close()
  })

  it('are stored up to a maximum for many installations', async () => {
    const writer = open()
    const receipts = Array.from({ length: 3_000 }, (_, n) =>
      receiptOf(`inst_${n % 1500}`, { wallMs: (n * 7919) % 1000 }),
    )
    for (let round = 0; round < 20; round += 1) for (const receipt of receipts) writer.take(receipt)
    const before = await database.db('receipts').count({ count: '*' }).first()
    await writer.flush()
    const after = await database.db('receipts').count({ count: '*' }).first()
    assert.ok(Number(after?.count) - Number(before?.count) <= 4_000)
    await writer.close()
  })
})
