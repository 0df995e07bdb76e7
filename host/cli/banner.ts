import { resolve } from 'node:path'
import type { Settings } from '../config/load-settings.ts'
import { formatProblem } from '../manifest/problem.ts'
import type { Wall } from '../sandbox/wall/levels.ts'
import type { RunningServer } from '../server.ts'
import type { LoadedPlugin } from '../versions/loaded-plugin.ts'
import { paint, type Terminal, toSafeLine } from './terminal.ts'

const screenLines = 24
/** The most plugins that leave the banner on one screen. */
const maxListed = 7

type Started = Pick<RunningServer, 'url' | 'setupUrl' | 'consoleUrl' | 'plugins' | 'wall'> & {
  settings: Pick<Settings, 'PLUGINS_DIR'>
}

/** Prints the address, the integrations and the next commands after a start, on one screen. It ends with one line to open. */
export function printBanner(given: Terminal, started: Started): void {
  const { url, setupUrl, consoleUrl, plugins, wall, settings } = started
  let lines = 0
  const terminal: Terminal = {
    ...given,
    print(...parts) {
      lines += 1
      given.print(...parts)
    },
  }
  terminal.print()
  terminal.print('  ', paint('bold', 'Annex'), ' runs at ', paint('cyan', url))
  printWall(terminal, wall)
  terminal.print()
  // Folders with errors come first.
  const sorted = plugins.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
  for (const plugin of sorted.slice(0, maxListed)) printPlugin(terminal, plugin)
  if (plugins.length > maxListed) {
    const more = `  and ${plugins.length - maxListed} more: npx annex integrations`
    terminal.print(paint('dim', terminal.toPasteable(more)))
  }
  if (plugins.length === 0)
    terminal.print(
      `  No integration yet: put a plugin folder into ${resolve(settings.PLUGINS_DIR)} (PLUGINS_DIR).`,
    )
  printNext(terminal, url, plugins)
  const linesBelow = 3
  printFailures(terminal, plugins, screenLines - 1 - lines - linesBelow)
  terminal.print(
    setupUrl === undefined
      ? '  Open the console:'
      : '  There is no operator yet. Open this address to become the operator. It works once:',
  )
  terminal.print('    ', paint('cyan', setupUrl ?? consoleUrl))
  terminal.print()
}

const order: LoadedPlugin['state'][] = ['failed', 'retired', 'loaded']

/** One line: the levels of the wall that this machine reaches, and those that it does not. */
function printWall(terminal: Terminal, { levels }: Wall): void {
  const reached = levels.filter((level) => level.reached).map(({ name }) => name)
  const missing = levels.filter((level) => !level.reached).map(({ name }) => name)
  const rest = missing.length === 0 ? '' : `, no ${missing.join(', no ')}: npx annex doctor says why`
  terminal.print('  Scripts run behind ', reached.join(', '), paint('yellow', terminal.toPasteable(rest)))
}

function printPlugin(terminal: Terminal, { folder, name, version, scopes, state }: LoadedPlugin): void {
  const title = toSafeLine(name ?? folder, 30).padEnd(20)
  if (state === 'retired') return terminal.print('  ', paint('yellow', 'retired'), ` ${title} see below`)
  if (state === 'failed') return terminal.print('  ', paint('red', 'failed '), ` ${title} see below`)
  const what = scopes.length === 0 ? 'no scopes' : scopes.join(' ')
  const number = `version ${version?.number ?? '?'}`
  terminal.print('  ', paint('green', 'loaded '), ` ${title} ${number}  `, paint('dim', toSafeLine(what, 80)))
}

/** The commands of the main job: a handler answers, an integration is installed, an event is delivered. */
function mainJob(url: string, isLoaded: (name: string) => boolean): string[] {
  const receiver = isLoaded('echo') ? `${url}/x/echo` : 'https://example.com/hook'
  const deliver = [
    `npx annex install webhook --site sample --set webhook_url=${receiver} --set site_view=true --yes`,
    'npx annex events publish site_view --site sample --follow',
  ]
  return [
    ...(isLoaded('echo') ? [`curl -X POST ${url}/x/echo`] : []),
    ...(isLoaded('webhook') ? deliver : []),
  ]
}

/** The main job, of loaded plugins only. */
function printNext(terminal: Terminal, url: string, plugins: LoadedPlugin[]): void {
  const isLoaded = (wanted: string) =>
    plugins.some(({ name, state }) => name === wanted && state === 'loaded')
  const lines = mainJob(url, isLoaded)
  terminal.print()
  if (lines.length === 0) return
  terminal.print('  Try it in another terminal:')
  for (const line of lines) terminal.print(`    ${terminal.toPasteable(line)}`)
  terminal.print()
}

/** Prints notes and problems in the lines that are left: with code frames, else a line each, else their number. */
function printFailures(terminal: Terminal, plugins: LoadedPlugin[], linesLeft: number): void {
  const notes = plugins.flatMap(({ name, note }) =>
    note === undefined ? [] : toSafeLine(`  ${name} is retired. ${note}`, 300),
  )
  const failed = plugins.filter(({ state }) => state === 'failed')
  const problems = failed.flatMap((plugin) => plugin.problems)
  const whole = problems.map((problem) => `${formatProblem(problem, { color: terminal.color })}\n`)
  const short = problems.map(({ file, line, column, message }) =>
    toSafeLine(`  ${file}:${line}:${column} ${message}`, 160),
  )
  const fits = (texts: string[]) => texts.join('\n').split('\n').length <= linesLeft
  const shown = [
    [...notes, ...whole],
    [...notes, ...short],
  ].find(fits)
  for (const text of shown ?? [...notes, ...short].slice(0, Math.max(0, linesLeft - 1))) {
    terminal.print({ escaped: text })
  }
  if (shown !== undefined) return
  const folders = `${failed.length} plugin folder${failed.length === 1 ? '' : 's'}`
  const text = `  ${problems.length} problems in ${folders}: npx annex reload shows them`
  terminal.print(paint('red', terminal.toPasteable(text)))
}
