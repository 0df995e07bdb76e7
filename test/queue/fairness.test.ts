import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFairness, type Fairness, type Health, type Sharing } from '../../host/queue/fairness.ts'

const rules = { most: 4, first: 4, circuit: { failures: 4, firstMs: 1_000, longestMs: 4_000 } }
const never = () => 0

const jobOf = (lane: string, given: Partial<Sharing> = {}): Sharing => ({
  lane,
  owner: lane,
  size: 0,
  attempt: 0,
  ...given,
})
const times = (count: number, job: Sharing): Sharing[] => Array.from({ length: count }, () => ({ ...job }))

function finish(fairness: Fairness, job: Sharing, health: Health, nowMs = 0): void {
  fairness.end(job, health, nowMs)
  fairness.release(job)
}

it('a new lane begins with the first limit; a success raises it, a failure halves it', () => {
  const fairness = createFairness(100, { most: 4, first: 2 }, never)
  const run = (health: 'good' | 'bad') => {
    const chosen = fairness.choose(times(9, jobOf('a')), 0)
    for (const job of chosen) finish(fairness, job, health)
    return chosen.length
  }
  assert.deepEqual([run('good'), run('good'), run('bad'), run('bad'), run('good')], [2, 4, 4, 1, 1])
  assert.equal(run('good'), 2)
})

it('an owner leaves a quarter of the free capacity to others, and so does the next owner', () => {
  const fairness = createFairness(64, { most: 64, first: 64 }, never)
  const chosen = ['a', 'b', 'c'].map((lane) => fairness.choose(times(64, jobOf(lane)), 0).length)
  assert.deepEqual(chosen, [48, 12, 3])
  assert.deepEqual(fairness.fullOwners(), ['a', 'b', 'c'])
})

it('an open circuit grows with each failed probe up to its maximum, and a success closes it', () => {
  const fairness = createFairness(100, rules, never)
  const fail = (nowMs: number) => {
    for (const job of fairness.choose(times(9, jobOf('a')), nowMs)) finish(fairness, job, 'bad', nowMs)
  }
  fail(0)
  assert.deepEqual([fairness.heldBackUntil('a', 0), fairness.openLanes(0)], [1_000, ['a']])
  assert.deepEqual(fairness.choose([jobOf('a')], 500), [])
  assert.equal(fairness.choose([jobOf('a', { attempt: 1 })], 500).length, 1, 'a retry passes')
  finish(fairness, jobOf('a', { attempt: 1 }), 'bad', 500)
  assert.equal(fairness.heldBackUntil('a', 500), 1_000, 'a retry moves nothing')
  const until = [1_000, 3_000, 7_000].map((nowMs) => {
    assert.equal(fairness.nextProbeAt(nowMs), undefined)
    fail(nowMs)
    return fairness.nextProbeAt(nowMs)
  })
  assert.deepEqual(until, [3_000, 7_000, 11_000])
  const [probe, ...others] = fairness.choose(times(9, jobOf('a')), 11_000)
  assert.equal(others.length, 0, 'one job probes')
  finish(fairness, probe ?? assert.fail(), 'good', 11_000)
  assert.deepEqual([fairness.openCircuits(), fairness.openLanes(11_000)], [0, []])
})

it('a circuit that an operator closes starts from zero', () => {
  const fairness = createFairness(100, rules, never)
  for (const job of fairness.choose(times(4, jobOf('a')), 0)) finish(fairness, job, 'bad', 0)
  assert.equal(fairness.openCircuits(), 1)
  assert.deepEqual([fairness.closeCircuit('a'), fairness.closeCircuit('a')], [true, false])
  assert.equal(fairness.choose(times(9, jobOf('a')), 0).length, 4)
})

it('fairness remembers an open circuit beside 20,000 other lanes', () => {
  const fairness = createFairness(10, rules, never)
  for (const job of fairness.choose(times(4, jobOf('bad')), 0)) finish(fairness, job, 'bad', 0)
  for (let n = 0; n < 20_000; n += 1) {
    const [job] = fairness.choose([jobOf(`lane ${n}`)], 0)
    finish(fairness, job ?? assert.fail(), 'good', 0)
  }
  assert.deepEqual(fairness.openLanes(0), ['bad'])
})
