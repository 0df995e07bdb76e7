// tier: wall and torture (many people at once beside deliveries)
// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runOperators } from '../soak/operators/run-operators.ts'
import { roundsOf } from '../support/torture.ts'

// A short `make operators`, on the database of the suite.
it('operators who pause, resume, reorder, rotate and resend during deliveries lose none', {
  timeout: 200_000,
}, async () => {
  const least = roundsOf(10, 200)
  const seed = Date.now() % 1_000_000
  const { operations, published, wrongs } = await runOperators({ seconds: 3, least, seed, hosts: 2 })
  assert.deepEqual([...wrongs], [], `SEED=${seed}`)
  assert.ok(operations >= least && published > 10, `${operations} operations, ${published} deliveries`)
})
