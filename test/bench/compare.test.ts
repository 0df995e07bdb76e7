import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { toMedian } from './compare.ts'
import { runLoad } from './run-load.ts'

test('one slow round does not change the result', () => {
  const measure = (number: number) => ({ requestsPerSecond: number, p50Ms: number, p99Ms: number * 2 })
  assert.deepEqual(toMedian([3, 1, 900].map(measure)), { requestsPerSecond: 3, p50Ms: 3, p99Ms: 6 })
  assert.equal(toMedian([1, 2, 3, 10].map(measure)).requestsPerSecond, 2.5)
})

test('a server that refuses is not measured as a fast one', async (context) => {
  const server = createServer((_request, response) => response.writeHead(503).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close())
  const { port } = server.address() as AddressInfo
  await assert.rejects(runLoad(`http://127.0.0.1:${port}/`, { connections: 2, seconds: 1 }), /not 2xx/)
})
