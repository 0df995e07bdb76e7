import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createId, firstIdAt } from '../../host/db/ids.ts'

describe('an id', () => {
  it('is a unique UUIDv7 with a prefix', () => {
    const ids = Array.from({ length: 20_000 }, () => createId('dlv'))
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) {
      assert.match(id, /^dlv_[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    }
  })

  it('sorts after earlier ids', () => {
    const ids = Array.from({ length: 3_000 }, () => createId('dlv'))
    assert.deepEqual(ids.toSorted(), ids)
  })

  it('begins with its creation time', () => {
    const beforeMs = Date.now()
    const id = createId('att')
    assert.ok(id >= firstIdAt('att', beforeMs))
    assert.ok(id < firstIdAt('att', Date.now() + 1))
  })
})
