import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapStack } from '../../host/bundle/map-stack.ts'

// One mapping: line 1, column 1 of the code is line 1, column 1 of a.ts.
const map = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' })
const mapped = (stack: string) => mapStack(stack, map, { integration: 'a', folderName: 'plugins/a' })

test('a place in the bundle becomes the place in the source', () => {
  assert.equal(mapped('Error: x\n    at f (annex:a:1:1)'), 'Error: x\n    at f (plugins/a/a.ts:1:1)')
})

test('frames of the platform are left out, and places of another integration are not taken for our own', () => {
  const stack = [
    'TypeError: x (annex:platform:1:1)',
    '    at f (annex:platform:1:1)',
    '    at annex:a:1:1',
    '    at async annex:platform:1:9',
    '    at g (annex:b:1:1)',
    '    at h (annex:a-b:1:1)',
  ].join('\n')
  assert.deepEqual(mapped(stack).split('\n'), [
    'TypeError: x (annex:platform:1:1)',
    '    at plugins/a/a.ts:1:1',
    '    at g (annex:b:1:1)',
    '    at h (annex:a-b:1:1)',
  ])
})

test('an integration that is called platform keeps its frames', () => {
  const stack = mapStack('    at f (annex:platform:1:1)', map, {
    integration: 'platform',
    folderName: 'plugins/p',
  })
  assert.equal(stack, '    at f (plugins/p/a.ts:1:1)')
})

test('places that are not in the map, or cannot be, stay as they are', () => {
  for (const place of [
    'annex:a:2:1',
    'annex:a:0:0',
    'annex:a:1:0',
    'annex:a:999999999:1',
    'annex:a:1',
    'node:internal:1:1',
  ]) {
    assert.equal(mapped(`at ${place}`), `at ${place}`)
  }
})

test('a stack without end is cut', () => {
  const stack = mapped(`annex:a:1:1 ${'annex:a:7:7\n'.repeat(1_000_000)}`)
  assert.ok(stack.startsWith('plugins/a/a.ts:1:1 '))
  assert.ok(stack.length < 20_000)
})

test('names that are made to slow a pattern down do not', () => {
  assert.equal(mapped('annex:'.repeat(2_000)), 'annex:'.repeat(2_000))
  assert.equal(mapped(`annex:${'a'.repeat(15_000)}`), `annex:${'a'.repeat(15_000)}`)
})

test('the call that a bundle is wrapped in is left out: it is in no file of the author', () => {
  // The first place in the code that has a source is column 3.
  const wrapped = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'EAAA' })
  const stack = 'Error: x\n    at annex:a:1:3\n    at annex:a:1:1'
  const shown = mapStack(stack, wrapped, { integration: 'a', folderName: 'plugins/a' })
  assert.equal(shown, 'Error: x\n    at plugins/a/a.ts:1:1')
})
