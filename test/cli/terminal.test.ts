import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createTerminal,
  paint,
  printTable,
  toSafeJson,
  toSafeLine,
  toSafeText,
} from '../../host/cli/terminal.ts'
import { assertHarmless } from './support/assert-harmless.ts'

function record(isTTY: boolean, env: NodeJS.ProcessEnv = {}, color = true) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY,
    write(text: string | Uint8Array) {
      written[name] += String(text)
      return true
    },
  })
  const streams = { stdout: stream('stdout'), stderr: stream('stderr'), env }
  return { written, terminal: createTerminal(streams, { color }) }
}

test('data goes to stdout, and other messages to stderr', () => {
  const { terminal, written } = record(false)
  terminal.print('data')
  terminal.say('remark')
  assert.deepEqual(written, { stdout: 'data\n', stderr: 'remark\n' })
})

test('only a terminal gets colours, and none with NO_COLOR, TERM=dumb or --no-color', () => {
  const print = ({ terminal, written }: ReturnType<typeof record>) => {
    terminal.print(paint('red', 'failed'))
    return written.stdout
  }
  assert.equal(print(record(true)), '\x1b[31mfailed\x1b[0m\n')
  assert.equal(print(record(false)), 'failed\n')
  assert.equal(print(record(true, { NO_COLOR: '1' })), 'failed\n')
  assert.equal(print(record(true, { TERM: 'dumb' })), 'failed\n')
  assert.equal(print(record(true, {}, false)), 'failed\n')
})

test('print, say and tables escape all characters that a terminal acts on', () => {
  const hostile = '\x1b[2J\x1b]0;title\x07\u009b31m\r\u202egnp.exe\x7f'
  for (const color of [true, false]) {
    const { terminal, written } = record(color)
    terminal.print(hostile, paint('red', hostile))
    terminal.say(hostile)
    printTable(terminal, ['a'], [[hostile], [paint('red', hostile) as { text: string; style: 'red' }]])
    const own = ['\x1b[31m', '\x1b[2m', '\x1b[0m']
    assertHarmless(own.reduce((text, code) => text.replaceAll(code, ''), written.stdout + written.stderr))
  }
})

test('a text keeps its lines, and a cell has one line of limited length', () => {
  assert.equal(toSafeText('a\r\n\tb'), 'a\n  b')
  assert.equal(toSafeLine('a\nb'), 'a\\x0ab')
  assert.equal([...toSafeLine('é'.repeat(300), 10)].length, 10)
})

test('printed JSON is harmless, and a parser reads the same value', () => {
  const value = { text: '\x1b[2J\u009b2J\u202e\u2028é' }
  const json = toSafeJson(value)
  assertHarmless(json)
  assert.deepEqual(JSON.parse(json), value)
})

test('columns of cells of any length are aligned', () => {
  const { terminal, written } = record(false)
  printTable(
    terminal,
    ['id', 'state'],
    [
      ['a', 'pending'],
      ['a-longer-one', 'failed'],
    ],
  )
  const columns = written.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.search(/state|pending|failed/))
  assert.deepEqual(columns, [14, 14, 14])
})
