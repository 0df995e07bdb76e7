import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printBanner } from '../../host/cli/banner.ts'
import { createTerminal } from '../../host/cli/terminal.ts'
import { levelNames, type Wall } from '../../host/sandbox/wall/levels.ts'
import type { LoadedPlugin } from '../../host/versions/loaded-plugin.ts'

const wallWith = (namespace: boolean): Wall => ({
  levels: levelNames.map((name) => ({ name, reached: name !== 'namespace' || namespace, shown: 'seen' })),
  attempts: [],
  enclosure: [],
  probeMs: 1,
})

function bannerOf(
  plugins: LoadedPlugin[],
  wall = wallWith(true),
  setupUrl = 'http://localhost:8787/setup#annex_setup_x',
): string {
  let written = ''
  const stream = {
    write(text: string | Uint8Array) {
      written += String(text)
      return true
    },
  }
  const terminal = createTerminal({ stdout: stream, stderr: stream, env: {} })
  printBanner(terminal, {
    url: 'http://127.0.0.1:8787',
    setupUrl: setupUrl === '' ? undefined : setupUrl,
    consoleUrl: 'http://localhost:8787',
    plugins,
    wall,
    settings: { PLUGINS_DIR: '/srv/plugins' },
  })
  return written
}

const loaded = (number: number, name = `p${number}`): LoadedPlugin => ({
  folder: `plugins/${name}`,
  name,
  version: { number, digest: 'abc' },
  scopes: ['space:content:read'],
  state: 'loaded',
  problems: [],
})

test('the banner of 50 integrations fits a screen of 24 lines', () => {
  const banner = bannerOf(Array.from({ length: 50 }, (_, index) => loaded(index)))
  assert.ok(banner.split('\n').length <= 24, banner)
  assert.match(banner, /and 43 more/)
})

test('the banner ends with the address that makes an operator', () => {
  assert.match(bannerOf([loaded(1, 'echo')]), /\n {4}http:\/\/localhost:8787\/setup#annex_setup_x\n\n$/)
})

test('the banner ends with the console once an operator has an account, and speaks of no setup', () => {
  const banner = bannerOf([loaded(1, 'echo')], wallWith(true), '')
  assert.match(banner, /\n {2}Open the console:\n {4}http:\/\/localhost:8787\n\n$/)
  assert.doesNotMatch(banner, /setup|operator/)
  const many = bannerOf(
    Array.from({ length: 50 }, (_, index) => loaded(index)),
    wallWith(true),
    '',
  )
  assert.ok(many.split('\n').length <= 24, many)
})

test('the banner shows the address, each integration and three commands', () => {
  const banner = bannerOf([loaded(3), loaded(1, 'echo'), loaded(1, 'webhook')])
  for (const expected of [
    'runs at http://127.0.0.1:8787\n',
    'p3                   version 3  space:content:read\n',
    '    curl -X POST http://127.0.0.1:8787/x/echo\n',
    '    npx annex install webhook --site sample --set webhook_url=http://127.0.0.1:8787/x/echo --set site_view=true --yes\n',
    '    npx annex events publish site_view --site sample --follow\n',
  ]) {
    assert.ok(banner.includes(expected), `${expected} is not in ${banner}`)
  }
})

test('the banner suggests commands of loaded integrations only, and names the plugin folder', () => {
  const failed: LoadedPlugin = { ...loaded(1, 'webhook'), state: 'failed' }
  assert.doesNotMatch(bannerOf([loaded(3), failed]), /Try it|x\/echo|install webhook/)
  const empty = bannerOf([])
  assert.match(empty, /put a plugin folder into \/srv\/plugins/)
  assert.doesNotMatch(empty, /Try it/)
  const alone = bannerOf([loaded(1, 'webhook')])
  assert.match(alone, /webhook_url=https:\/\/example\.com\/hook/)
  assert.doesNotMatch(alone, /x\/echo/)
})

test('the banner names a failed folder and the position of each problem', () => {
  const problem = {
    severity: 'error',
    file: 'plugins/b/service-manifest.yaml',
    line: 3,
    column: 7,
    message: 'wrong \x1b[2J',
    frame: '',
  } as const
  const banner = bannerOf([
    loaded(1),
    { folder: 'plugins/b\x1b[2J', scopes: [], state: 'failed', problems: [problem] },
  ])
  assert.match(banner, /failed {2}plugins\/b/)
  assert.match(banner, /plugins\/b\/service-manifest\.yaml:3:7 error wrong/)
  assert.ok(!banner.includes('\x1b'))
})

const broken = (name: string, frame = '1 | x\n  | ^'): LoadedPlugin => {
  const position = { file: `plugins/${name}/service-manifest.yaml`, line: 1, column: 1 }
  const problem = { severity: 'error', ...position, message: 'wrong', hint: 'mend it', frame } as const
  return { folder: `plugins/${name}`, scopes: [], state: 'failed', problems: [problem, problem] }
}

test('the banner of 57 failed folders fits a screen and shows their number', () => {
  const folders = Array.from({ length: 57 }, (_, index) => broken(`b${index}`))
  const banner = bannerOf([loaded(1, 'echo'), loaded(1, 'webhook'), ...folders])
  assert.ok(banner.split('\n').length <= 24, banner)
  assert.match(banner, /failed {2}plugins\/b0/, 'folders with errors come first')
  assert.match(banner, /114 problems in 57 plugin folders: npx annex reload shows them/)
})

test('the banner shows the code frames and hints of problems that fit the screen', () => {
  const banner = bannerOf([broken('b'), loaded(1)])
  assert.match(banner, /b\/service-manifest\.yaml:1:1 error wrong\n1 \| x\n {2}\| \^\n {2}hint: mend it\n/)
  assert.doesNotMatch(banner, /2 problems/)
  assert.ok(banner.split('\n').length <= 24, banner)
  const long = bannerOf([broken('b', 'line\n'.repeat(30)), loaded(1)])
  assert.ok(long.split('\n').length <= 24, long)
  assert.match(long, /b\/service-manifest\.yaml:1:1 wrong/)
})

test('the banner names a retired integration once', () => {
  const note = 'Its folder holds "new" now. It has no installations.'
  const retired: LoadedPlugin = { ...loaded(1, 'old'), state: 'retired', note }
  const banner = bannerOf([loaded(1, 'new'), retired])
  assert.match(banner, /retired old/)
  assert.ok(banner.includes(`old is retired. ${note}\n`), banner)
})

test('the banner names the levels of the wall, and the command that explains a missing one', () => {
  assert.match(bannerOf([]), /behind isolate, process, namespace, watchdog, heartbeat\n/)
  const without = bannerOf([], wallWith(false))
  assert.match(without, /isolate, process, watchdog, heartbeat, no namespace: npx annex doctor says why/)
})
