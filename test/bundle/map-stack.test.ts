import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapStack } from '../../host/bundle/map-stack.ts'

// One mapping: line 1, column 1 of the code is line 1, column 1 of a.ts.
const map = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' })
const mapped = (stack: string) => mapStack(stack, map, { integration: 'a', folderName: 'plugins/a' })

test('a position in the bundle becomes a position in the source', () => {
  assert.equal(mapped('Error: x\n    at f (annex:a:1:1)'), 'Error: x\n    at f (plugins/a/a.ts:1:1)')
})

test('positions of another integration stay unchanged, and so does all other text', () => {
  const stack =
    'Error: x\n    at g (annex:b:1:1) tail\n    at h (annex:a-b:1:1)\n    at annex:a:1:1 for user 42'
  assert.equal(
    mapped(stack),
    'Error: x\n    at g (annex:b:1:1) tail\n    at h (annex:a-b:1:1)\n    at plugins/a/a.ts:1:1 for user 42',
  )
})

test('positions that are not in the map stay unchanged', () => {
  for (const position of [
    'annex:a:2:1',
    'annex:a:0:0',
    'annex:a:1:0',
    'annex:a:999999999:1',
    'annex:a:1',
    'node:internal:1:1',
  ]) {
    assert.equal(mapped(`at ${position}`), `at ${position}`)
  }
})

test('frames outside the author’s files are removed, and the text after them stays', () => {
  // Line 1 is the author's, line 2 the SDK's, line 3 stands in for a missing module, line 4 is the bundler's.
  const sources = ['a.ts', '@annex/runtime/dispatch.ts', 'missing:canvas?require']
  const several = JSON.stringify({ version: 3, sources, names: [], mappings: 'AAAA;ACAA;ACAA;A' })
  const stack = (tail: string) => `Error: x
    at missing:canvas?require (annex:a:3:1)
    at __require (annex:a:4:1)
    at f (annex:a:1:1)
    at async Object.<anonymous> (annex:a:2:1)
    at async annex:a:2:1
    at async Promise.all (index 0)
    at answerFetch (annex:a:2:1)${tail}`
  for (const tail of ['', ' for user 42', ', user: 42 }', ' (annex:a:1:1)', '\n  { code: "E" }']) {
    assert.equal(
      mapStack(stack(tail), several, { integration: 'a', folderName: 'plugins/a' }),
      `Error: x
    at f (plugins/a/a.ts:1:1)
    at async Promise.all (index 0)${tail.replace('annex:a', 'plugins/a/a.ts')}`,
    )
  }
})

test('an endless stack is cut', () => {
  const stack = mapped(`annex:a:1:1 ${'annex:a:7:7\n'.repeat(1_000_000)}`)
  assert.ok(stack.startsWith('plugins/a/a.ts:1:1 '))
  assert.ok(stack.length < 20_000)
})

test('names that would slow down a pattern do not', () => {
  assert.equal(mapped('annex:'.repeat(2_000)), 'annex:'.repeat(2_000))
  assert.equal(mapped(`annex:${'a'.repeat(15_000)}`), `annex:${'a'.repeat(15_000)}`)
})
