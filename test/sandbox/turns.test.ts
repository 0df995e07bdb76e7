import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { QueuedDispatch } from '../../host/sandbox/dispatch/live-dispatches.ts'
import { createTurns } from '../../host/sandbox/dispatch/turns.ts'

const version = { digest: 'd', code: '' }

function dispatch(key: string, askedMs: number, event?: { id: string; type: string }): QueuedDispatch {
  return {
    target: { key, group: 'operator', integration: 'x', version },
    ...{ environment: '{}', message: '{}', body: new Uint8Array(0), visitor: undefined, moves: 0, askedMs },
    context: {
      requestId: 'r',
      integration: 'x',
      scopes: [],
      level: { kind: 'integration', integration: 'x' },
      hops: 0,
      event,
    },
    resolve() {},
    reject() {},
  }
}

const view = { id: 'evt_1', type: 'site_view' }
const times = (taken: readonly QueuedDispatch[]) => taken.map(({ askedMs }) => askedMs)

describe('the turns of scripts without a loaded sandbox', () => {
  it('come in order, with all dispatches of a script together', () => {
    const turns = createTurns()
    for (const [key, at] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      turns.wait(dispatch(key, at))
    assert.deepEqual([turns.has('a'), turns.has('x'), turns.count()], [true, false, 4])
    assert.deepEqual(times(turns.next()), [1, 3])
    assert.equal(turns.has('a'), false)
    assert.deepEqual(
      [times(turns.next()), times(turns.next()), turns.next(), turns.count()],
      [[2], [4], [], 0],
    )
  })

  it('alternate between visitors and events', () => {
    const turns = createTurns()
    for (let n = 0; n < 3; n += 1) turns.wait(dispatch(`e${n}`, n, view))
    turns.wait(dispatch('v0', 10))
    turns.wait(dispatch('v1', 11))
    assert.deepEqual(times(Array.from({ length: 5 }, () => turns.next()).flat()), [10, 0, 11, 1, 2])
  })

  it('include events and visitors of one script together', () => {
    const turns = createTurns()
    turns.wait(dispatch('a', 1, view))
    turns.wait(dispatch('a', 2))
    turns.wait(dispatch('b', 3, view))
    assert.deepEqual(times(turns.next()), [1, 2])
    assert.deepEqual([times(turns.next()), turns.count()], [[3], 0])
  })

  it('exclude dispatches that waited too long', () => {
    const turns = createTurns()
    for (const [key, at] of [
      ['a', 1],
      ['a', 5],
      ['b', 2],
    ] as const)
      turns.wait(dispatch(key, at))
    assert.deepEqual(times(turns.takeOlder(3)), [1, 2])
    assert.deepEqual([turns.has('b'), times(turns.takeAll()), turns.count()], [false, [5], 0])
  })
})
