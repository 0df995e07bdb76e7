// tier: wall and torture (power cuts under load)

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cutBySql } from '../soak/power-cut/cut-by-sql.ts'
import { runPowerCuts } from '../soak/power-cut/run-power-cuts.ts'
import { noCompiler } from '../support/compile-library.ts'
import { roundsOf } from '../support/torture.ts'

// A short `make power-cut`.
describe('a power cut', { skip: noCompiler }, () => {
  it('loses nothing that was acknowledged', async () => {
    const result = await runPowerCuts({ rounds: roundsOf(1, 10), seed: 20261121, note: () => {} })
    assert.ok(result.acknowledged > 0 && result.undone > 0 && result.syncs > 0, 'there was something to lose')
    assert.deepEqual(result.lost, [])
    assert.deepEqual(result.undelivered, [])
    assert.equal(result.integrity, 'ok')
  })

  it('causes losses with synchronous=NORMAL and none with FULL, so the harness detects losses', async () => {
    const normal = await cutBySql('NORMAL', 500)
    assert.ok(normal.acknowledged > 0 && normal.lost > 0, JSON.stringify(normal))
    const full = await cutBySql('FULL', 500)
    assert.ok(full.acknowledged > 0)
    assert.equal(full.lost, 0)
  })
})
