import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findPositions, planRevision, type WantedPage } from '../../host/content/plan-revision.ts'
import type { PageHead } from '../../host/db/queries/pages.ts'

const head = (id: string, position: number): PageHead => ({
  ...{ id, kind: 'document', path: id, parentId: null, position, title: id, description: null, digest: id },
  writtenBy: null,
})

const want = (page: PageHead): WantedPage => {
  const { position: _, ...others } = page
  return { ...others, readText: async () => ({ markdown: '', document: null }) }
}

const pages = Array.from({ length: 100 }, (_, n) => head(`p${n}`, n + 1))
const changedBy = (wanted: PageHead[]) =>
  planRevision(pages, wanted.map(want)).changed.map(({ page }) => page.id)

test('a new page between two others leaves other pages unchanged', () => {
  assert.deepEqual(changedBy([...pages.slice(0, 50), head('new', 0), ...pages.slice(50)]), ['new'])
})

test('a page that moves between the ends leaves other pages unchanged', () => {
  const [first, last] = [pages.slice(0, 1), pages.slice(-1)]
  assert.deepEqual(changedBy([...last, ...pages.slice(0, -1)]), ['p99'])
  assert.deepEqual(changedBy([...pages.slice(1), ...first]), ['p0'])
})

test('a removed page leaves other pages unchanged', () => {
  const plan = planRevision(pages, pages.filter(({ id }) => id !== 'p7').map(want))
  assert.deepEqual([plan.changed, plan.gone], [[], ['p7']])
})

test('positions rise, also after a thousand inserts at the same position', () => {
  let positions = [1, 2]
  for (let n = 0; n < 1000; n += 1) {
    positions = findPositions([positions[0], undefined, ...positions.slice(1)])
    assert.ok(positions.every((position, at) => at === 0 || position > (positions[at - 1] ?? 0)))
  }
  assert.equal(positions.length, 1002)
})

test('positions rise for any order, and a rising list stays unchanged', () => {
  const known = fc.option(fc.integer({ min: -1000, max: 1000 }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(known, { maxLength: 60 }), (given) => {
      const positions = findPositions(given)
      assert.equal(positions.length, given.length)
      assert.ok(positions.every((position, n) => n === 0 || position > (positions[n - 1] ?? 0)))
    }),
  )
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer()), (numbers) => {
      const rising = numbers.toSorted((a, b) => a - b)
      assert.deepEqual(findPositions(rising), rising)
    }),
  )
})
