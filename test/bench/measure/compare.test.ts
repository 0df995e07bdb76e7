import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { toMedian } from './compare.ts'
import { readUsed } from './cpu-time.ts'
import { quantile } from './quantile.ts'
import { findGenerator, type Generator, runLoad } from './run-load.ts'

test('one slow round does not change the result', () => {
  const measure = (number: number) => ({
    requestsPerSecond: number,
    p50Ms: number,
    p99Ms: number * 2,
    hostUs: 1,
    behindUs: 0,
    loadShare: 0.5,
  })
  assert.equal(toMedian([3, 1, 900].map(measure)).p99Ms, 6)
  assert.equal(toMedian([1, 2, 3, 10].map(measure)).requestsPerSecond, 2.5)
  assert.equal(quantile([1, 2, 3, 4, 5], 1), 5)
})

test('the CPU time of a process can be read, and is undefined after its end', () => {
  const before = readUsed(process.pid)
  assert.ok(before !== undefined && before.residentBytes > 1e6)
  const end = performance.now() + 60
  while (performance.now() < end);
  assert.ok((readUsed(process.pid)?.cpuMs ?? 0) > before.cpuMs)
  assert.equal(readUsed(2 ** 30), undefined)
})

for (const generator of new Set<Generator>([findGenerator(), 'autocannon'])) {
  test(`a server that refuses requests is not measured: ${generator}`, async (context) => {
    const server = createServer((_request, response) => response.writeHead(503).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const urls = [`http://127.0.0.1:${port}/`]
    await assert.rejects(runLoad({ urls }, { connections: 2, seconds: 1, generator }), /not 2xx/)
  })
}
