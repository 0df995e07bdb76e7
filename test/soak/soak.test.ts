// tier: wall and torture (hostile installations use every processor)

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { roundsOf } from '../support/torture.ts'
import { runSoak } from './run-soak.ts'

it('honest installations lose no request, event or memory during attacks on others', async () => {
  const leastAttacks = roundsOf(8, 21)
  const notes: string[] = []
  const note = (text: string) => notes.push(text)
  const result = await runSoak({ seconds: roundsOf(6, 120), leastAttacks, seed: 20261121, note })
  const said = notes.join('\n')
  const [, own, amongHostile] = result.phases
  assert.ok(own && amongHostile && own.requests > 200 && amongHostile.requests > 200, 'the load was there')
  assert.ok(result.attacks >= leastAttacks, `${result.attacks} attacks`)
  assert.deepEqual([...result.failures], [], said)
  assert.equal(own.died, 0, `the operator’s own share no process with strangers: ${said}`)
  assert.equal(result.events.delivered, result.events.published)
  const { hostStartMb, hostEndMb } = result.memory
  assert.ok(hostEndMb < hostStartMb + 150, `${hostStartMb} MB at first, ${hostEndMb} MB at last`)
})
