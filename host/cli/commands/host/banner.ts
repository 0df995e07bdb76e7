import { resolve } from 'node:path'
import type { Settings } from '../../../config/load-settings.ts'
import { formatProblem } from '../../../manifest/problems/problem.ts'
import { mainJob } from '../../../routes/home/next-steps.ts'
import type { Wall } from '../../../sandbox/wall/levels.ts'
import type { RunningServer } from '../../../server.ts'
import type { LoadedPlugin } from '../../../versions/load-plugins.ts'
import { toSafeLine } from '../../terminal/safe-text.ts'
import { paint, type Terminal } from '../../terminal/terminal.ts'

/** With the lines around the list, the banner still fits a screen of 24 lines. */
const maxListed = 7

type Started = Pick<RunningServer, 'url' | 'setupToken' | 'plugins' | 'wall'> & {
  settings: Pick<Settings, 'PLUGINS_DIR'>
}

/** What a person needs after a start, on one screen: the address, the integrations, and what to paste next. */
export function printBanner(terminal: Terminal, { url, setupToken, plugins, wall, settings }: Started): void {
  terminal.print()
  terminal.print('  ', paint('bold', 'Annex'), ' runs at ', paint('cyan', url))
  printWall(terminal, wall)
  if (setupToken !== undefined) {
    terminal.print()
    terminal.print('  There is no operator yet. This makes you one, once:')
    terminal.print(`    curl -X POST ${url}/v1/setup -d '{"token":"${setupToken}"}'`)
  }
  terminal.print()
  for (const plugin of plugins.slice(0, maxListed)) printPlugin(terminal, plugin)
  if (plugins.length > maxListed) {
    terminal.print(paint('dim', `  and ${plugins.length - maxListed} more: npx annex integrations`))
  }
  if (plugins.length === 0)
    terminal.print(
      `  No integration yet: put a plugin folder into ${resolve(settings.PLUGINS_DIR)} (PLUGINS_DIR).`,
    )
  printNext(terminal, url, plugins)
  printFailures(terminal, plugins)
}

/** One line: what stands between a script and this machine, and what does not. */
function printWall(terminal: Terminal, { levels }: Wall): void {
  const reached = levels.filter((level) => level.reached).map(({ name }) => name)
  const missing = levels.filter((level) => !level.reached).map(({ name }) => name)
  const rest = missing.length === 0 ? '' : `, no ${missing.join(', no ')}: npx annex doctor says why`
  terminal.print('  Scripts run behind ', reached.join(', '), paint('yellow', rest))
}

function printPlugin(terminal: Terminal, { folder, name, version, scopes, state }: LoadedPlugin): void {
  const title = toSafeLine(name ?? folder, 30).padEnd(20)
  if (state === 'retired') return terminal.print('  ', paint('yellow', 'retired'), ` ${title} see below`)
  if (state === 'failed') return terminal.print('  ', paint('red', 'failed '), ` ${title} see below`)
  const what = scopes.length === 0 ? 'no scopes' : scopes.join(' ')
  const number = `version ${version?.number ?? '?'}`
  terminal.print('  ', paint('green', 'loaded '), ` ${title} ${number}  `, paint('dim', toSafeLine(what, 80)))
}

/**
 * The main job in three lines to paste: a handler answers, an integration is installed, an event is delivered. Only
 * what is loaded can be tried.
 */
function printNext(terminal: Terminal, url: string, plugins: LoadedPlugin[]): void {
  const isLoaded = (wanted: string) =>
    plugins.some(({ name, state }) => name === wanted && state === 'loaded')
  const lines = mainJob(url, isLoaded).map(({ command }) => command)
  terminal.print()
  if (lines.length === 0) return
  terminal.print('  Try it in another terminal:')
  for (const line of lines) terminal.print(`    ${line}`)
  terminal.print()
}

/** After the screen, since how many there are is up to whoever wrote the folders. */
function printFailures(terminal: Terminal, plugins: LoadedPlugin[]): void {
  for (const { name, note } of plugins) {
    if (note !== undefined) terminal.print('  ', toSafeLine(`${name} is retired. ${note}`, 500))
  }
  for (const { state, problems } of plugins) {
    if (state !== 'failed') continue
    for (const problem of problems) {
      terminal.print({ escaped: formatProblem(problem, { color: terminal.color }) })
      terminal.print()
    }
  }
}
