import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { createOffenders, type Offenders } from '../../host/sandbox/offenders.ts'
import type { SandboxTarget } from '../../host/sandbox/target.ts'

const minute = 60_000
const target = (key: string, digest = 'one'): SandboxTarget => ({
  key,
  group: 'publisher-org_1',
  integration: 'bomb',
  version: { digest, code: '' },
})
const memory = { kind: 'memory_limit' } as const

describe('a script that ends its process', () => {
  let nowMs = 0
  let offenders: Offenders
  beforeEach(() => {
    nowMs = 1_000_000
    offenders = createOffenders(() => nowMs)
  })
  const strike = (afterMs = 0, of = target('inst_a')) => {
    nowMs += afterMs
    return offenders.strike(of, memory)
  }
  const verdict = (of = target('inst_a')) => offenders.verdict(of).kind

  it('shares its process after the first time, and runs alone for an hour after the second', () => {
    assert.equal(strike(), undefined)
    assert.equal(verdict(), 'shared')
    assert.equal(strike(50 * minute), undefined)
    assert.equal(verdict(), 'alone')
    nowMs += 59 * minute
    assert.equal(verdict(), 'alone')
    nowMs += 2 * minute
    assert.equal(verdict(), 'shared')
  })

  it('is suspended at the fourth time within ten minutes, with a reason', () => {
    strike()
    strike(minute)
    strike(minute)
    const reason = strike(minute)
    assert.match(reason ?? '', /4 times within 10 minutes, .*used more memory.*SANDBOX_RESIDENT_MB/)
    assert.deepEqual(offenders.verdict(target('inst_a')), { kind: 'suspended', reason })
    nowMs += 11_000
    assert.equal(verdict(), 'alone', 'from now on the stored suspension is what refuses')
  })

  it('is not suspended for rare ends', () => {
    for (let n = 0; n < 20; n += 1) assert.equal(strike(4 * minute), undefined)
    assert.equal(verdict(), 'alone')
  })

  it('has a separate record for each installation and version', () => {
    for (let n = 0; n < 4; n += 1) strike()
    assert.equal(verdict(target('inst_b')), 'shared')
    assert.equal(verdict(target('inst_a', 'two')), 'shared')
  })

  it('runs alone without strikes after a resume', () => {
    for (let n = 0; n < 4; n += 1) strike()
    offenders.forgive('inst_a')
    assert.equal(verdict(), 'alone')
    for (let n = 0; n < 3; n += 1) assert.equal(strike(), undefined)
    assert.notEqual(strike(), undefined)
  })
})
