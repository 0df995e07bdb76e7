import { formatProblem } from '../../../manifest/problems/problem.ts'
import type { RunningServer } from '../../../server.ts'
import type { LoadedPlugin } from '../../../versions/load-plugins.ts'
import { toSafeLine } from '../../terminal/safe-text.ts'
import { paint, type Terminal } from '../../terminal/terminal.ts'

/** With the lines around the list, the banner still fits a screen of 24 lines. */
const maxListed = 8

type Started = Pick<RunningServer, 'url' | 'setupToken' | 'plugins'>

/** What a person needs after a start, on one screen: the address, the integrations, and what to paste next. */
export function printBanner(terminal: Terminal, { url, setupToken, plugins }: Started): void {
  terminal.print()
  terminal.print('  ', paint('bold', 'Annex'), ' runs at ', paint('cyan', url))
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
  if (plugins.length === 0) terminal.print('  No integration yet: put a plugin folder into PLUGINS_DIR.')
  printNext(terminal, url)
  printFailures(terminal, plugins)
}

function printPlugin(terminal: Terminal, { folder, name, version, scopes, state }: LoadedPlugin): void {
  const title = toSafeLine(name ?? folder, 30).padEnd(20)
  if (state === 'failed') return terminal.print('  ', paint('red', 'failed '), ` ${title} see below`)
  const what = scopes.length === 0 ? 'no scopes' : scopes.join(' ')
  const number = `version ${version?.number ?? '?'}`
  terminal.print('  ', paint('green', 'loaded '), ` ${title} ${number}  `, paint('dim', toSafeLine(what, 80)))
}

/** The main job in three lines to paste: a handler answers, an integration is installed, an event is delivered. */
function printNext(terminal: Terminal, url: string): void {
  terminal.print()
  terminal.print('  Try it in another terminal:')
  terminal.print(`    curl -X POST ${url}/x/echo`)
  terminal.print(
    `    npx annex install webhook --site sample --set webhook_url=${url}/x/echo --set site_view=true`,
  )
  terminal.print('    npx annex events publish site_view --site sample --follow')
  terminal.print()
}

/** After the screen, since how many there are is up to whoever wrote the folders. */
function printFailures(terminal: Terminal, plugins: LoadedPlugin[]): void {
  for (const { state, problems } of plugins) {
    if (state !== 'failed') continue
    for (const problem of problems) {
      terminal.print({ escaped: formatProblem(problem, { color: terminal.color }) })
      terminal.print()
    }
  }
}
