import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createIdTable } from '../../runtime/process/id-table.ts'

/** Far apart, so that many share a slot, and close together. */
const ids = fc.oneof(
  fc.integer({ min: 0, max: 5000 }),
  fc.integer({ min: 0, max: 5 }).map((n) => n * 64),
)

test('a table of ids behaves as a Map, also for ids in one slot', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('set', 'set', 'delete'), ids), { maxLength: 300 })
  fc.assert(
    fc.property(steps, (taken) => {
      const table = createIdTable<object>(64)
      const map = new Map<number, object>()
      for (const [step, id] of taken) {
        if (step === 'delete') {
          table.delete(id)
          map.delete(id)
        } else if (!map.has(id)) {
          const value = { id }
          table.set(id, value)
          map.set(id, value)
        }
        assert.equal(table.get(id), map.get(id))
      }
      const inOrder = [...map].sort(([a], [b]) => a - b)
      assert.deepEqual(
        table.values(),
        inOrder.map(([, value]) => value),
      )
      for (const [id, value] of inOrder) assert.equal(table.get(id), value)
    }),
  )
})

test('a table of ids keeps an old value beside thousands of new ones', () => {
  const table = createIdTable<number>(64)
  table.set(7, 7)
  for (let id = 8; id < 100_000; id++) {
    table.set(id, id)
    if (id > 60) table.delete(id - 50)
  }
  assert.equal(table.get(7), 7)
  table.delete(7)
  assert.equal(table.get(7), undefined)
  assert.equal(table.values().length, 53)
})
