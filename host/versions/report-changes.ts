import { basename } from 'node:path'
import type { Logger } from 'pino'
import { toVisible } from '../manifest/message-text.ts'
import { formatProblem } from '../manifest/problem.ts'
import type { LoadedPlugin } from './plugin-source.ts'

/** What a reload changed about a plugin folder. */
export type Change = { what: LoadedPlugin['state'] | 'removed'; plugin: LoadedPlugin }

/** The folders whose outcome is another than before: new, another version, other problems, or gone. */
export function findChanges(before: readonly LoadedPlugin[], after: readonly LoadedPlugin[]): Change[] {
  // A retirement was said by the load that found it.
  const known = before.filter(({ state }) => state !== 'retired')
  const outcomes = new Map(known.map((plugin) => [plugin.folder, toOutcome(plugin)]))
  const there = new Set(after.map(({ folder }) => folder))
  return [
    ...known
      .filter(({ folder }) => !there.has(folder))
      .map((plugin): Change => ({ what: 'removed', plugin })),
    ...after
      .filter((plugin) => outcomes.get(plugin.folder) !== toOutcome(plugin))
      .map((plugin): Change => ({ what: plugin.state, plugin })),
  ]
}

const toOutcome = ({ name, state, version, problems }: LoadedPlugin): string =>
  JSON.stringify([name, state, version?.digest, problems])

/** A change for people: each problem with its frame, and one line. Nothing of a plugin folder acts on the terminal. */
export function formatChange({ what, plugin }: Change, options: { color: boolean }): string {
  const title = toVisible(plugin.name ?? basename(plugin.folder))
  const version = what === 'loaded' && plugin.version !== undefined ? ` version ${plugin.version.number}` : ''
  const problems = what === 'removed' ? [] : plugin.problems
  const note = plugin.note === undefined ? '' : `. ${toVisible(plugin.note)}`
  return [
    ...problems.map((problem) => `${formatProblem(problem, options)}\n`),
    `${what} ${title}${version}${note}`,
  ].join('\n')
}

/** Where changes are told: a terminal is for people, everything else reads JSON. */
type Output = { isTTY?: boolean; hasColors?: () => boolean; write: (text: string) => unknown }

/**
 * Reports what each reload changes: as text on a terminal, else as lines of the log. LOG_LEVEL holds for both.
 *
 * @param first what was loaded at the start, which nobody has to be told again
 * @returns to be called with what was loaded, after each reload
 */
export function createChangeReport(
  first: readonly LoadedPlugin[],
  { logger, output }: { logger: Logger; output: Output },
): (loaded: readonly LoadedPlugin[]) => void {
  let before = first
  return (loaded) => {
    for (const change of findChanges(before, loaded)) {
      if (output.isTTY === true) tell(change)
      else logChange(logger, change)
    }
    before = loaded
  }

  function tell(change: Change): void {
    if (!logger.isLevelEnabled(change.what === 'failed' ? 'error' : 'info')) return
    output.write(`${formatChange(change, { color: output.hasColors?.() === true })}\n`)
  }
}

function logChange(logger: Logger, { what, plugin }: Change): void {
  const { folder, name, version } = plugin
  const problems = plugin.problems.map((problem) => formatProblem(problem, { color: false }))
  if (what === 'failed') logger.error({ folder, problems }, 'plugin not loaded')
  else if (what === 'retired') logger.warn({ folder, name, note: plugin.note }, 'integration retired')
  else if (what === 'removed') logger.info({ folder, name }, 'plugin removed')
  else
    logger.info(
      { folder, name, version: version?.number, ...(problems.length > 0 && { problems }) },
      'plugin loaded',
    )
}
