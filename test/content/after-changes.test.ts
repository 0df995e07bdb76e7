import assert from 'node:assert/strict'
import { it } from 'node:test'
import { afterChanges } from '../../host/after-changes.ts'

const settling = { quietMs: 100, mostMs: 250 }

it('consecutive changes cause one call, after a pause or at the time limit', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  context.mock.method(performance, 'now', () => now)
  const told: string[] = []
  const changes = afterChanges((state) => told.push(`${now} ${state}`), settling)
  const pass = (ms: number) => {
    for (let n = 0; n < ms; n += 1) {
      now += 1
      context.mock.timers.tick(1)
    }
  }
  for (const ms of [60, 60, 200]) {
    changes.note()
    pass(ms)
  }
  assert.deepEqual(told, ['220 quiet'])
  for (let n = 0; n < 5; n += 1) {
    changes.note()
    pass(60)
  }
  pass(200)
  assert.deepEqual(told, ['220 quiet', '570 changing'])
  changes.note()
  changes.cancel()
  pass(300)
  assert.equal(told.length, 2)
})
