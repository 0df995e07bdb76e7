import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addCounts,
  addTime,
  noCounts,
  packSlots,
  quantile,
  unpackSlots,
} from '../../host/metrics/activity-counts.ts'

describe('counts of a time', () => {
  it('are the same after they were stored', () => {
    const counts = {
      ...noCounts(),
      requests: 3,
      failedRequests: 1,
      cpuMs: 12,
      memoryBytes: 5_000_000,
      backlog: 7,
    }
    for (const ms of [0, 1, 3, 3, 90, 86_400_000, Number.MAX_SAFE_INTEGER]) addTime(counts.requestTimes, ms)
    addTime(counts.attemptTimes, 40)
    const slots = [null, counts, null]
    assert.deepEqual(unpackSlots(packSlots(slots)), slots)
    assert.deepEqual(unpackSlots(packSlots([])), [])
  })

  it('add up, and keep the largest load', () => {
    const one = { ...noCounts(), delivered: 2, backlog: 9, oldestMs: 100 }
    const other = { ...noCounts(), delivered: 5, failed: 1, backlog: 4, oldestMs: 300 }
    addTime(one.attemptTimes, 10)
    addTime(other.attemptTimes, 10)
    addTime(other.attemptTimes, 1_000)
    addCounts(one, other)
    assert.deepEqual([one.delivered, one.failed, one.backlog, one.oldestMs], [7, 1, 9, 300])
    assert.deepEqual([...one.attemptTimes.values()], [2, 1])
  })

  it('have quantiles that are at most 1.42 times too long, and never too short', () => {
    for (const ms of [0.2, 1, 1.5, 7, 99, 1_000, 30_000, 3_600_000]) {
      const { requestTimes } = noCounts()
      addTime(requestTimes, ms)
      const found = quantile(requestTimes, 0.99) ?? 0
      assert.ok(found >= ms - 0.1 && found <= Math.max(1, ms) * 1.42, `${ms}: ${found}`)
    }
  })

  it('have the p50 and the p99 of all times', () => {
    const { requestTimes } = noCounts()
    for (let n = 0; n < 98; n++) addTime(requestTimes, 4)
    for (let n = 0; n < 2; n++) addTime(requestTimes, 1_024)
    assert.equal(quantile(requestTimes, 0.5), 4)
    assert.equal(quantile(requestTimes, 0.98), 4)
    assert.equal(quantile(requestTimes, 0.99), 1_024)
    assert.equal(quantile(new Map(), 0.5), undefined)
  })
})
