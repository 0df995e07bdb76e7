// tier: wall and torture (kills of hosts under load)
// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { wrongsOf } from '../soak/kills/print-ledger.ts'
import { runKills } from '../soak/kills/run-kills.ts'
import { roundsOf } from '../support/torture.ts'

// A short `make kills`, on the database of the suite.
it('a host that is killed repeatedly loses nothing, and repeats only work in flight', {
  timeout: 300_000,
}, async () => {
  const rounds = roundsOf(2, 12)
  const ledger = await runKills({ rounds, seed: Date.now() % 1_000_000, note: () => {} })
  assert.deepEqual(wrongsOf(ledger), [])
  assert.ok(ledger.acknowledged > 0 && ledger.delivered === ledger.owed)
  const kills = [...ledger.kills.values()].reduce((sum, count) => sum + count, 0)
  assert.equal(kills, rounds)
})
