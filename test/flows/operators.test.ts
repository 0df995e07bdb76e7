import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runOperators } from '../soak/operators/run-operators.ts'

// A short `make operators`, on the database of the suite.
it('people who pause, resume, order, rotate and send again beside deliveries lose none, and are answered', {
  timeout: 200_000,
}, async () => {
  const seed = Date.now() % 1_000_000
  const { operations, published, wrongs } = await runOperators({ seconds: 3, least: 40, seed, hosts: 2 })
  assert.deepEqual([...wrongs], [], `SEED=${seed}`)
  assert.ok(operations >= 40 && published > 50, `${operations} operations, ${published} deliveries`)
})
