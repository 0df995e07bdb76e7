import { basename } from 'node:path'
import type { Logger } from 'pino'
import { toVisible } from '../manifest/message-text.ts'
import { formatProblem } from '../manifest/problem.ts'
import type { LoadedPlugin } from './loaded-plugin.ts'

/** The change of a plugin folder by a reload. */
export type Change = { kind: LoadedPlugin['state'] | 'removed'; plugin: LoadedPlugin }

/** The folders that are new or gone, or have another version or other problems. */
export function findChanges(before: readonly LoadedPlugin[], after: readonly LoadedPlugin[]): Change[] {
  // A retirement is reported once.
  const known = before.filter(({ state }) => state !== 'retired')
  const outcomes = new Map(known.map((plugin) => [plugin.folder, toOutcome(plugin)]))
  const there = new Set(after.map(({ folder }) => folder))
  return [
    ...known
      .filter(({ folder }) => !there.has(folder))
      .map((plugin): Change => ({ kind: 'removed', plugin })),
    ...after
      .filter((plugin) => outcomes.get(plugin.folder) !== toOutcome(plugin))
      .map((plugin): Change => ({ kind: plugin.state, plugin })),
  ]
}

const toOutcome = ({ name, state, version, problems }: LoadedPlugin): string =>
  JSON.stringify([name, state, version?.digest, problems])

/** A change as text for a terminal: each problem with its frame, and one line. Hostile text is escaped. */
export function formatChange({ kind, plugin }: Change, options: { color: boolean }): string {
  const title = toVisible(plugin.name ?? basename(plugin.folder))
  const version = kind === 'loaded' && plugin.version !== undefined ? ` version ${plugin.version.number}` : ''
  const problems = kind === 'removed' ? [] : plugin.problems
  const note = plugin.note === undefined ? '' : `. ${toVisible(plugin.note)}`
  return [
    ...problems.map((problem) => `${formatProblem(problem, options)}\n`),
    `${kind} ${title}${version}${note}`,
  ].join('\n')
}

type Output = { isTTY?: boolean; hasColors?: () => boolean; write: (text: string) => unknown }

/**
 * Creates a function that reports the changes of each reload: as text on a terminal, else as log lines. LOG_LEVEL applies
 * to both.
 *
 * @param first the plugins of the start, which are not reported
 */
export function createChangeReport(
  first: readonly LoadedPlugin[],
  { logger, output }: { logger: Logger; output: Output },
): (loaded: readonly LoadedPlugin[]) => void {
  let before = first
  return (loaded) => {
    for (const change of findChanges(before, loaded)) {
      if (output.isTTY === true) print(change)
      else logChange(logger, change)
    }
    before = loaded
  }

  function print(change: Change): void {
    if (!logger.isLevelEnabled(change.kind === 'failed' ? 'error' : 'info')) return
    output.write(`${formatChange(change, { color: output.hasColors?.() === true })}\n`)
  }
}

function logChange(logger: Logger, { kind, plugin }: Change): void {
  const { folder, name, version } = plugin
  const problems = plugin.problems.map((problem) => formatProblem(problem, { color: false }))
  if (kind === 'failed') logger.error({ folder, problems }, 'plugin not loaded')
  else if (kind === 'retired') logger.warn({ folder, name, note: plugin.note }, 'integration retired')
  else if (kind === 'removed') logger.info({ folder, name }, 'plugin removed')
  else
    logger.info(
      { folder, name, version: version?.number, ...(problems.length > 0 && { problems }) },
      'plugin loaded',
    )
}
