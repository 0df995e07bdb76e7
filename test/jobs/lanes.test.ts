import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLanes, type Lanes } from '../../host/jobs/slots/lanes.ts'

const circuit = { failures: 3, firstMs: 1_000, longestMs: 3_000 }

const room = (lanes: Lanes, lane: string, nowMs: number): number => lanes.roomsAt(nowMs)(lane)

describe('lanes', () => {
  it('let nobody have more than their share', () => {
    const lanes = createLanes({ most: 2, first: 2 }, () => 0)
    assert.equal(room(lanes, 'a', 0), 2)
    lanes.enter('a')
    assert.equal(room(lanes, 'a', 0), 1)
    lanes.enter('a')
    assert.equal(room(lanes, 'a', 0), 0)
    assert.equal(room(lanes, 'b', 0), 2)
    lanes.leave('a', undefined, 0)
    assert.equal(room(lanes, 'a', 0), 1)
  })

  it('let none have more than a share that is asked for, but what it begins with', () => {
    const lanes = createLanes({ most: 8, first: 2 }, () => 0)
    const room = (share: number) => lanes.roomsAt(0, share)('a')
    assert.deepEqual([room(1), room(4)], [2, 2])
    for (let n = 0; n < 4; n++) {
      lanes.enter('a')
      lanes.leave('a', 'good', 0)
    }
    assert.deepEqual([room(1), room(4), room(20)], [2, 4, 6])
    for (let n = 0; n < 3; n++) lanes.enter('a')
    assert.deepEqual([room(1), room(4), room(20)], [0, 1, 3])
  })

  it('let one that does well have more, and one that does not have less', () => {
    const lanes = createLanes({ most: 4, first: 2 }, () => 0)
    lanes.enter('a')
    lanes.enter('a')
    lanes.leave('a', 'good', 0)
    lanes.enter('a')
    lanes.leave('a', 'good', 0)
    assert.equal(room(lanes, 'a', 0), 3)
    lanes.enter('a')
    lanes.leave('a', 'bad', 0)
    assert.equal(room(lanes, 'a', 0), 1)
  })

  it('leave one alone that fails again and again, and then send one job to probe it', () => {
    const lanes = createLanes({ most: 8, first: 8, circuit }, () => 0)
    for (let n = 0; n < 3; n++) lanes.enter('a')
    for (let n = 0; n < 3; n++) lanes.leave('a', 'bad', 100)
    assert.equal(room(lanes, 'a', 1_099), 0)
    assert.equal(lanes.nextProbeAt(100), 1_100)
    assert.equal(lanes.leftAloneUntil('a', 1_099), 1_100)
    assert.equal(lanes.leftAloneUntil('a', 1_100), undefined)
    assert.equal(lanes.leftAloneUntil('b', 100), undefined)
    assert.equal(room(lanes, 'a', 1_100), 1)
    lanes.enter('a')
    assert.equal(room(lanes, 'a', 1_100), 0)
    // Twice as long, and no longer than the longest.
    lanes.leave('a', 'bad', 1_200)
    assert.equal(lanes.nextProbeAt(1_200), 3_200)
    lanes.enter('a')
    lanes.leave('a', 'bad', 3_200)
    assert.equal(lanes.nextProbeAt(3_200), 6_200)
    lanes.enter('a')
    lanes.leave('a', 'good', 6_200)
    assert.ok(room(lanes, 'a', 6_200) >= 1)
    assert.equal(lanes.nextProbeAt(6_200), undefined)
    assert.equal(lanes.leftAloneUntil('a', 3_300), undefined)
  })

  it('do not count what was under way when it was closed as further failures', () => {
    const lanes = createLanes({ most: 8, first: 8, circuit }, () => 0)
    for (let n = 0; n < 8; n++) lanes.enter('a')
    for (let n = 0; n < 8; n++) lanes.leave('a', 'bad', 100)
    assert.equal(lanes.nextProbeAt(100), 1_100)
  })

  it('are forgotten when there are too many, those first that have had nothing to do for the longest', () => {
    const lanes = createLanes({ most: 8, first: 2, circuit }, () => 0)
    const run = (lane: string, health: 'good' | 'bad', times: number) => {
      for (let n = 0; n < times; n++) {
        lanes.enter(lane)
        lanes.leave(lane, health, 0)
      }
    }
    for (let n = 0; n < 12_000; n++) run(`dead ${n}`, 'bad', 3)
    assert.equal(lanes.openCircuits(), 10_000)
    assert.deepEqual([room(lanes, 'dead 0', 0), room(lanes, 'dead 11999', 0)], [2, 0])
    for (let n = 0; n < 600; n++) run(`well ${n}`, 'good', 2)
    run('well 200', 'good', 1)
    run('well 600', 'good', 2)
    assert.deepEqual(
      [0, 200, 101, 600].map((n) => room(lanes, `well ${n}`, 0)),
      [2, 5, 4, 4],
    )
    assert.equal(room(lanes, 'well 100', 0), 2)
    assert.equal(lanes.openCircuits(), 10_000, 'the ones do not take the place of the others')
  })
})
