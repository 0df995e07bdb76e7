// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import fc from 'fast-check'
import { createClock, createSteadyClock, nowOf } from '../../host/db/database-clock.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { createTestDatabase } from '../support/test-database.ts'

const hour = 3_600_000

for (const [what, jumpMs] of [
  ['forward', hour],
  ['back', -hour],
] as const) {
  it(`a clock that jumps ${what} by an hour makes no due time early or late`, () => {
    let monotonicMs = 0
    const clock = createSteadyClock(1_000_000_000, () => monotonicMs)
    const before = clock.now()
    for (let second = 1; second <= 100; second++) {
      monotonicMs += 1_000
      clock.adjust(1_000_000_000 + monotonicMs + jumpMs)
    }
    const passed = clock.now() - before
    assert.ok(Math.abs(passed - 100_000) <= 100, `100 s were ${passed} ms`)
  })
}

it('a clock that drifts by one part in ten thousand is corrected continuously', () => {
  let monotonicMs = 0
  const clock = createSteadyClock(1_000_000_000, () => monotonicMs)
  for (let second = 1; second <= 60; second++) {
    monotonicMs += 1_000.1
    clock.adjust(1_000_000_000 + second * 1_000)
  }
  assert.ok(Math.abs(clock.now() - 1_000_060_000) <= 1)
})

it('a clock shows whole milliseconds from the start', () => {
  let monotonicMs = 0.25
  const clock = createSteadyClock(1_000_000_000.5, () => monotonicMs)
  assert.equal(clock.now(), 1_000_000_000)
  monotonicMs += 0.75
  assert.equal(clock.now(), 1_000_000_001)
})

it('a clock never goes back, for any correction', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer()))
  fc.assert(
    fc.property(steps, (all) => {
      let monotonicMs = 0
      const clock = createSteadyClock(0, () => monotonicMs)
      let last = clock.now()
      for (const [passedMs, truthMs] of all) {
        monotonicMs += passedMs
        clock.adjust(truthMs)
        const now = clock.now()
        assert.ok(now >= last && now - last <= passedMs * 1.001 + 1)
        last = now
      }
    }),
  )
})

it('queries that store due times find the clock of their database, also in a transaction', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-clock-'))
  const made = await createTestDatabase(folder)
  const { db, clock, close } = await openDatabase(made.url, folder)
  context.after(async () => {
    await close()
    await made.drop()
    rmSync(folder, { recursive: true })
  })
  assert.ok(Math.abs(clock.now() - Date.now()) < hour)
  context.mock.method(clock, 'now', () => 7)
  assert.equal(nowOf(db), 7)
  await db.transaction(async (transaction) => assert.equal(nowOf(transaction), 7))
})

it('a wait for a due time can be cancelled, and lasts a minute at most', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = await createClock({ db: undefined as never, dialect: 'sqlite' })
  const run: string[] = []
  clock.after(100, () => run.push('soon'))
  clock.after(200, () => run.push('never'))()
  clock.after(hour, () => run.push('an hour'))
  context.mock.timers.tick(100)
  assert.deepEqual(run, ['soon'])
  context.mock.timers.tick(60_000)
  assert.deepEqual(run, ['soon', 'an hour'])
})
