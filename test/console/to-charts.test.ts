import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toCharts, toHeadText, toShortText } from '../../host/console/app/parts/charts/to-charts.ts'
import { texts } from '../../host/console/app/texts.ts'

const noon = Date.UTC(2026, 0, 1, 12)
const minute = 60_000
const point = (atMs: number, more: object = {}) => ({
  at: new Date(atMs).toISOString(),
  ...{ requests: 0, failedRequests: 0, delivered: 0, failed: 0, attempts: 0 },
  ...{ cpuMs: 0, memoryBytes: 0, backlog: 0, oldestSeconds: 0, requestMs: {}, attemptMs: {} },
  ...more,
})
const activity = {
  object: 'activity' as const,
  organization: null as string | null,
  // Between two steps, as the API gives it.
  from: new Date(noon - 5_000).toISOString(),
  stepSeconds: 60,
  points: [
    point(noon, { requests: 3, requestMs: { p50: 4, p99: 8 }, cpuMs: 600, memoryBytes: 5_000_000 }),
    point(noon + 2 * minute, { requests: 2, failedRequests: 1, backlog: 7, oldestSeconds: 90 }),
  ],
}

describe('the charts of an activity', () => {
  const { times, charts } = toCharts(activity, noon + 2 * minute + 30_000, texts.charts)
  const chartOf = (name: string) => charts.find((one) => one.name === name) ?? assert.fail(name)
  const valuesOf = (name: string) => chartOf(name).lines.map(({ values }) => values)

  it('have a step for each time, with 0 where nothing happened', () => {
    assert.deepEqual(
      times.map((time) => (time * 1000 - noon) / minute),
      [-1, 0, 1, 2],
    )
    assert.deepEqual(valuesOf(texts.charts.requests), [
      [0, 3, 0, 2],
      [0, 0, 0, 1],
    ])
  })

  it('have a gap where no time was measured', () => {
    assert.deepEqual(valuesOf(texts.charts.latency), [
      [null, 4, null, null],
      [null, 8, null, null],
      [null, null, null, null],
    ])
  })

  it('show CPU time as a share of one processor', () => {
    assert.deepEqual(valuesOf(texts.charts.cpu), [[0, 1, 0, 0]])
  })

  it('show the backlog and its age', () => {
    assert.deepEqual(valuesOf(texts.charts.backlog), [[0, 0, 0, 7]])
    assert.deepEqual(valuesOf(texts.charts.age), [[0, 0, 0, 90]])
  })

  it('show the memory of all of Annex, and no memory of an organization', () => {
    assert.deepEqual(valuesOf(texts.charts.memory), [[0, 5_000_000, 0, 0]])
    const own = toCharts({ ...activity, organization: 'org_1' }, noon, texts.charts)
    assert.deepEqual(
      charts.map(({ name }) => name).filter((name) => !own.charts.some((one) => one.name === name)),
      [texts.charts.memory],
    )
  })

  it('have in their head the sum of counts, and the last value of the others', () => {
    const headsOf = (name: string) => chartOf(name).lines.map((line) => toHeadText(line, chartOf(name)))
    assert.deepEqual(headsOf(texts.charts.requests), ['5', '1'])
    assert.deepEqual(headsOf(texts.charts.latency), ['4 ms', '8 ms', undefined])
    assert.deepEqual(headsOf(texts.charts.memory), ['0 MB'])
  })

  it('have values short enough for an axis', () => {
    assert.deepEqual(
      [0, 999, 1_234, 12_345, 9_876_543].map((value) => toShortText(value, 'count')),
      ['0', '999', '1,234', '12.3K', '9.9M'],
    )
    assert.deepEqual(
      [1.4, 90.5, 1_024].map((value) => toShortText(value, 'ms')),
      ['1.4 ms', '91 ms', '1 s'],
    )
    assert.deepEqual(
      [0, 1, 119, 120, 5_400, 7_200, 90_000, 172_800, 2_592_000].map((value) =>
        toShortText(value, 'seconds'),
      ),
      ['0 s', '1 s', '120 s', '2 min', '90 min', '2 h', '25 h', '2 d', '30 d'],
    )
  })
})
