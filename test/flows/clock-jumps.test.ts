// tier: wall (clocks that jump under hosts of their own)
// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../support/annex.ts'
import { noCompiler } from '../support/compile-library.ts'
import { startOnFaultyMachine } from '../support/host-under-faults.ts'
import { createTestDatabase } from '../support/test-database.ts'

const hourMs = 3_600_000
/** Base delay of the second retry (spec 8). The receiver notes an arrival a moment before the host hears of its answer. */
const secondDelayMs = 2_000

describe('a wall clock that jumps', { skip: noCompiler }, () => {
  for (const [name, offMs] of [
    ['an hour ahead', hourMs],
    ['an hour back', -hourMs],
  ] as const) {
    it(`${name} between two attempts neither stops the retry nor makes it early`, {
      timeout: 120_000,
    }, async () => {
      const database = await createTestDatabase()
      await using ends = new AsyncDisposableStack()
      ends.defer(database.drop)
      const running = await startOnFaultyMachine({ DATABASE_URL: database.url }, 503, 503, 200)
      ends.defer(() => running[Symbol.asyncDispose]())
      const { faults, publish, receiver, listening, untilDelivered } = running
      assert.equal((await publish('evt_retried')).status, 202)
      await until(
        () => listening.api('GET', '/v1/deliveries?event=evt_retried'),
        ({ json }) => json.items[0]?.attempts === 2,
      )
      faults.setClock(offMs)
      // Work that comes meanwhile makes the host look at what is due, by its new clock.
      assert.equal((await publish('evt_new')).status, 202)
      await untilDelivered(['evt_retried', 'evt_new'])
      const attempts = receiver.received.filter(({ body }) => body.includes('evt_retried'))
      assert.equal(attempts.length, 3)
      const [, second, third] = attempts
      const waitedMs = (third?.atMs ?? 0) - (second?.atMs ?? 0)
      assert.ok(waitedMs >= secondDelayMs, `the retry came after ${waitedMs} ms`)
    })
  }
})
