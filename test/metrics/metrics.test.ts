import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from '../../host/metrics/create-metrics.ts'
import type { Receipt } from '../../host/sandbox/receipt.ts'

const receipt = (more: Partial<Receipt> = {}): Receipt => ({
  requestId: 'req_1',
  integration: 'hello',
  installationId: 'inst_secret',
  organizationId: 'org_secret',
  type: 'fetch',
  startedAtMs: 0,
  cpuMs: 0.4,
  wallMs: 3,
  heapBytes: 1e6,
  egressCalls: 2,
  egressBytes: 1000,
  hostCalls: 3,
  deliveries: 0,
  tasks: 0,
  outcome: 'ok',
  ...more,
})

const nothing = { processes: [], levels: [] }

describe('metrics', () => {
  it('count dispatches by integration, type and outcome, and their usage', async () => {
    const metrics = createMetrics()
    metrics.observeReceipt(receipt())
    metrics.observeReceipt(receipt({ outcome: 'script_error', wallMs: 300, cpuMs: 30 }))
    metrics.observeReceipt(receipt({ type: 'task', egressBytes: 0 }))
    const text = await metrics.text(nothing)
    for (const line of [
      'annex_dispatches_total{integration="hello",type="fetch",outcome="ok"} 1',
      'annex_dispatches_total{integration="hello",type="fetch",outcome="script_error"} 1',
      'annex_dispatches_total{integration="hello",type="task",outcome="ok"} 1',
      'annex_egress_bytes_total{integration="hello"} 2000',
      'annex_egress_requests_total{integration="hello"} 6',
      'annex_host_calls_total{integration="hello"} 9',
      '# TYPE annex_dispatch_seconds histogram',
      'annex_dispatch_seconds_bucket{le="0.0025",type="fetch"} 0',
      'annex_dispatch_seconds_bucket{le="0.005",type="fetch"} 1',
      'annex_dispatch_seconds_bucket{le="0.5",type="fetch"} 2',
      'annex_dispatch_seconds_bucket{le="+Inf",type="fetch"} 2',
      'annex_dispatch_seconds_sum{type="fetch"} 0.303',
      'annex_dispatch_seconds_count{type="fetch"} 2',
      'annex_dispatch_cpu_seconds_bucket{le="0.0005",type="task"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text.slice(0, 6000)}`)
    }
    assert.match(text, /^process_resident_memory_bytes \d+$/m)
    assert.doesNotMatch(text, /secret|req_1/)
  })

  it('count the limits that scripts hit, with and without the end of the dispatch', async () => {
    const metrics = createMetrics()
    for (const outcome of ['cpu_limit', 'memory_limit', 'wall_clock_limit', 'sandbox_died', 'ok']) {
      metrics.observeReceipt(receipt({ outcome }))
    }
    metrics.observeLimit('hello', 'timers')
    metrics.observeLimit('hello', 'timers')
    const lines = (await metrics.text(nothing)).split('\n').filter((line) => line.startsWith('annex_limits'))
    assert.deepEqual(lines.toSorted(), [
      'annex_limits_hit_total{integration="hello",limit="cpu"} 1',
      'annex_limits_hit_total{integration="hello",limit="memory"} 1',
      'annex_limits_hit_total{integration="hello",limit="timers"} 2',
      'annex_limits_hit_total{integration="hello",limit="wall_clock"} 1',
    ])
  })

  it('show sandbox processes and the causes of their ends, without naming an installation', async () => {
    const metrics = createMetrics()
    metrics.observeProcessEnd('third-party#0', 'memory_limit')
    metrics.observeProcessEnd('third-party!inst_secret', 'cpu_limit')
    const text = await metrics.text({
      processes: [
        { slot: 'operator#0', pid: process.pid, loaded: 3 },
        { slot: 'third-party!inst_secret', pid: undefined, loaded: 1 },
        { slot: 'third-party!inst_other', pid: undefined, loaded: 1 },
      ],
      levels: [
        { name: 'process', reached: true, shown: '' },
        { name: 'namespace', reached: false, shown: '' },
      ],
    })
    const found = /annex_sandbox_resident_bytes\{slot="operator#0"\} (\d+)/.exec(text)?.[1]
    if (process.platform === 'linux') {
      const { rss } = process.memoryUsage()
      assert.ok(Math.abs(Number(found) - rss) < rss / 4, `${found} is not about ${rss}`)
    }
    for (const line of [
      'annex_sandboxes_loaded{slot="operator#0"} 3',
      'annex_sandboxes_loaded{slot="third-party!alone"} 2',
      'annex_sandbox_process_ends_total{group="third-party",cause="memory_limit"} 1',
      'annex_sandbox_process_ends_total{group="third-party",cause="cpu_limit"} 1',
      'annex_wall_level{level="process"} 1',
      'annex_wall_level{level="namespace"} 0',
    ]) {
      assert.ok(text.includes(`${line}\n`), line)
    }
    assert.doesNotMatch(text, /inst_/)
  })

  it('have a bounded number of lines for any integrations and events', async () => {
    const metrics = createMetrics()
    for (let index = 0; index < 20_000; index += 1) {
      metrics.observeReceipt(
        receipt({ integration: `i${index}`, type: `t${index}`, outcome: `o${index % 500}` }),
      )
    }
    const lines = (await metrics.text(nothing)).split('\n')
    const counts = lines.filter((line) => line.startsWith('annex_dispatches_total{'))
    const total = counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    assert.equal(total, 20_000)
    assert.ok(counts.length < 2_200, `${counts.length}`)
    assert.ok(lines.length < 12_000, `${lines.length}`)
  })

  it('show each counter of an integration after its first dispatch, and fixed ones at once', async () => {
    const metrics = createMetrics()
    metrics.observeReceipt(receipt({ egressCalls: 0, egressBytes: 0, hostCalls: 0 }))
    const text = await metrics.text(nothing)
    for (const line of [
      'annex_egress_requests_total{integration="hello"} 0',
      'annex_egress_bytes_total{integration="hello"} 0',
      'annex_host_calls_total{integration="hello"} 0',
      'annex_deliveries_total{state="delivered"} 0',
      'annex_deliveries_total{state="failed"} 0',
      'annex_delivery_seconds_count{state="delivered"} 0',
    ]) {
      assert.ok(text.includes(`${line}\n`), line)
    }
  })

  it('count an integration over the limit as `other`, with its outcome, limit or cause', async () => {
    const metrics = createMetrics()
    for (let index = 0; index < 3_000; index += 1) {
      metrics.observeReceipt(receipt({ integration: `i${index}`, egressCalls: 1 }))
      metrics.observeLimit(`i${index}`, 'timers')
      metrics.observeProcessEnd(`publisher-org_${index}#0`, 'exit' as never)
    }
    metrics.observeReceipt(receipt({ integration: 'i2999', outcome: 'cpu_limit' }))
    metrics.observeReceipt(receipt({ integration: 'i0' }))
    const text = await metrics.text(nothing)
    for (const line of [
      'annex_dispatches_total{integration="other",type="other",outcome="ok"} 1000',
      'annex_dispatches_total{integration="other",type="other",outcome="cpu_limit"} 1',
      'annex_dispatches_total{integration="i0",type="fetch",outcome="ok"} 2',
      'annex_egress_requests_total{integration="other"} 1002',
      'annex_limits_hit_total{integration="other",limit="timers"} 1000',
      'annex_limits_hit_total{integration="other",limit="cpu"} 1',
      'annex_sandbox_process_ends_total{group="other",cause="exit"} 2950',
    ]) {
      assert.ok(text.includes(`${line}\n`), line)
    }
  })

  it('have one line for a name with quotes, backslashes and line ends', async () => {
    const metrics = createMetrics()
    metrics.observeReceipt(receipt({ type: 'a"} 1\nannex_fake 1\\' }))
    const text = await metrics.text(nothing)
    assert.doesNotMatch(text, /^annex_fake/m)
    assert.ok(text.includes('type="a\\"} 1\\nannex_fake 1\\\\",outcome="ok"} 1\n'), text.slice(0, 3_000))
  })
})
