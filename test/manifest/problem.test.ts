import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFrame } from '../../host/manifest/code-frame.ts'
import { findNearestName } from '../../host/manifest/message-text.ts'
import { createProblem, formatProblem } from '../../host/manifest/problem.ts'

test('a frame shows the line, two before and one after, with carets', () => {
  const source = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n')
  assert.equal(
    createFrame(source, 9, 6, 1),
    `   7 | line 7
   8 | line 8
   9 | line 9
     |      ^
  10 | line 10`,
  )
})

test('the caret is right after tabs, wide characters and escaped ones', () => {
  assert.equal(createFrame('\t\tx', 1, 3), '  1 |     x\n    |     ^')
  assert.equal(createFrame('日本x', 1, 3), '  1 | 日本x\n    |     ^')
  assert.equal(createFrame('\x1b[2Jx', 1, 5), '  1 | \\x1b[2Jx\n    |        ^')
  assert.equal(createFrame('a: b\r\nc', 1, 4), '  1 | a: b\n    |    ^\n  2 | c')
})

test('a very long line is cut around the caret', () => {
  const frame = createFrame(`${'a'.repeat(100_000)}X${'b'.repeat(100_000)}`, 1, 100_001)
  const [text = '', carets = ''] = frame.split('\n')
  assert.ok(frame.length < 300)
  assert.equal(text[carets.indexOf('^')], 'X')
  assert.match(text, /…a+Xb+…$/)
})

test('a mark longer than its line is cut', () => {
  assert.ok(createFrame('a'.repeat(50_000), 1, 1, 50_000).length < 300)
})

test('a problem has colours only on request', () => {
  const problem = createProblem('a.yaml', 'x: y', { line: 1, column: 4 }, { message: 'no', hint: 'try z' })
  assert.equal(
    formatProblem(problem, { color: false }),
    'a.yaml:1:4 error no\n  1 | x: y\n    |    ^\n  hint: try z',
  )
  assert.equal(
    formatProblem(problem, { color: true }),
    'a.yaml:1:4 \x1b[31merror\x1b[39m no\n  1 | x: y\n    |    \x1b[31m^\x1b[39m\n  \x1b[36mhint:\x1b[39m try z',
  )
})

test('file names, messages and hints send nothing to the terminal', () => {
  const evil = '\x1b]0;owned\x07\r\n\u009b2J\u2066'
  const text = formatProblem(
    { severity: 'error', file: evil, line: 1, column: 1, message: evil, hint: evil, frame: '' },
    { color: false },
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2066]/)
  assert.equal(text.split('\n').length, 2)
})

test('the nearest name is found for slips, and nothing for distant names', () => {
  const names = ['title', 'summary', 'contentSources', 'space:content:read']
  assert.equal(findNearestName('titel', names), 'title')
  assert.equal(findNearestName('content_sources', names), 'contentSources')
  assert.equal(findNearestName('space:contents:read', names), 'space:content:read')
  assert.equal(findNearestName('xyz', names), undefined)
  assert.equal(findNearestName('a'.repeat(100_000), names), undefined)
})
