import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createProblem } from '../../host/manifest/problem.ts'
import type { LoadedPlugin } from '../../host/versions/loaded-plugin.ts'
import {
  type Change,
  createChangeReport,
  findChanges,
  formatChange,
} from '../../host/versions/report-changes.ts'

const loaded = (name: string, number = 1): LoadedPlugin => ({
  folder: `plugins/${name}`,
  name,
  version: { number, digest: `digest-${number}` },
  scopes: [],
  state: 'loaded',
  problems: [],
})

const failed = (name: string, message: string): LoadedPlugin => ({
  folder: `plugins/${name}`,
  scopes: [],
  state: 'failed',
  problems: [
    createProblem(`plugins/${name}/index.ts`, 'let a', { line: 1, column: 5 }, { message, hint: 'mend it' }),
  ],
})

const changed = (before: LoadedPlugin[], after: LoadedPlugin[]) =>
  findChanges(before, after).map(({ kind, plugin }) => `${kind} ${plugin.folder.slice('plugins/'.length)}`)

test('only folders with another outcome are reported', () => {
  const before = [
    loaded('same'),
    loaded('edited'),
    loaded('gone'),
    failed('wrong', 'x'),
    failed('still', 'y'),
  ]
  const after = [
    loaded('same'),
    loaded('edited', 2),
    failed('wrong', 'z'),
    failed('still', 'y'),
    loaded('new'),
  ]
  assert.deepEqual(changed(before, after), ['removed gone', 'loaded edited', 'failed wrong', 'loaded new'])
  assert.deepEqual(changed(after, after), [])
})

test('a folder that fails and then loads its earlier version is reported both times', () => {
  assert.deepEqual(changed([loaded('a')], [failed('a', 'x')]), ['failed a'])
  assert.deepEqual(changed([failed('a', 'x')], [loaded('a')]), ['loaded a'])
})

test('a retirement is reported once, next to its folder', () => {
  const retired: LoadedPlugin = {
    ...loaded('hello'),
    ...{ name: 'old', state: 'retired', note: 'Its folder holds "hello" now. It has no installations.' },
  }
  const first = [loaded('old', 1)].map((plugin) => ({ ...plugin, folder: 'plugins/hello' }))
  const second = [loaded('hello'), retired]
  assert.deepEqual(changed(first, second), ['loaded hello', 'retired hello'])
  assert.deepEqual(changed(second, [loaded('hello')]), [])
  assert.equal(
    formatChange({ kind: 'retired', plugin: retired }, { color: false }),
    'retired old. Its folder holds "hello" now. It has no installations.',
  )
})

test('a change is one line, after the frame of each problem', () => {
  const text = (plugin: LoadedPlugin, kind: Change['kind'] = plugin.state) =>
    formatChange({ kind, plugin }, { color: false })
  assert.equal(text(loaded('hello', 2)), 'loaded hello version 2')
  assert.equal(text(loaded('hello', 2), 'removed'), 'removed hello')
  const lines = text(failed('hello', 'wrong \x1b[2J')).split('\n')
  assert.match(lines[0] ?? '', /^plugins\/hello\/index\.ts:1:5 error wrong \\x1b\[2J$/)
  assert.ok(lines.some((line) => /\| +\^/.test(line)))
  assert.equal(lines.at(-1), 'failed hello')
})

/** What two reloads write: to the terminal, and to the log. */
function report(options: { isTTY: boolean; level: string }) {
  const terminal: string[] = []
  const log: string[] = []
  const logger = pino({ level: options.level, base: null }, { write: (line: string) => void log.push(line) })
  const output = { isTTY: options.isTTY, write: (text: string) => void terminal.push(text) }
  const reload = createChangeReport([loaded('a')], { logger, output })
  reload([loaded('a', 2), failed('b', 'x')])
  reload([loaded('a', 2), failed('b', 'x')])
  return { terminal: terminal.join(''), log: log.map((line): { msg: string } => JSON.parse(line)) }
}

test('a terminal gets text, a pipe gets log lines, and an unchanged reload nothing', () => {
  const onTerminal = report({ isTTY: true, level: 'info' })
  assert.match(
    onTerminal.terminal,
    /^loaded a version 2\nplugins\/b\/index\.ts:1:5 error x\n[\s\S]*\nfailed b\n$/,
  )
  assert.deepEqual(onTerminal.log, [])
  const piped = report({ isTTY: false, level: 'info' })
  assert.equal(piped.terminal, '')
  assert.deepEqual(
    piped.log.map(({ msg }) => msg),
    ['plugin loaded', 'plugin not loaded'],
  )
})

test('LOG_LEVEL applies to the terminal, too', () => {
  assert.equal(report({ isTTY: true, level: 'silent' }).terminal, '')
  assert.doesNotMatch(report({ isTTY: true, level: 'warn' }).terminal, /loaded a/)
})
