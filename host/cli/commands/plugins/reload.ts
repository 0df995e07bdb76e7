import type { Command } from 'commander'
import type { Problem } from '../../../manifest/problems/problem.ts'
import type { LoadedPlugin } from '../../../versions/plugin-source.ts'
import type { List } from '../../records.ts'
import { exitCodes } from '../../report-error.ts'
import { openSession } from '../../session.ts'
import { printTable, toStatus } from '../../terminal/table.ts'
import { withExamples } from '../../with-examples.ts'
import { printProblems } from './print-problems.ts'

/** `annex reload`: the running Annex reads its plugin folders and spaces again. */
export function addReload(program: Command): void {
  const command = program
    .command('reload')
    .description('have plugin folders and spaces read again; exit code 3 when a folder has errors')
    .action(reload)
  withExamples(command, ['annex reload', 'annex reload --json'])
}

async function reload(_options: object, command: Command): Promise<void> {
  const { terminal, api } = openSession(command)
  const answer = await api.post<List<LoadedPlugin>>('/v1/reload')
  if (terminal.json) terminal.printJson(answer)
  else {
    const rows = answer.items.map((plugin) => [
      plugin.name ?? plugin.folder,
      toStatus(plugin.state),
      plugin.version === undefined ? '' : `version ${plugin.version.number}`,
      plugin.scopes.join(' '),
    ])
    printTable(terminal, ['integration', 'state', 'version', 'scopes'], rows)
    for (const { note } of answer.items) if (note !== undefined) terminal.say(note)
    const problems: Problem[] = answer.items.flatMap((plugin) => plugin.problems)
    if (problems.length > 0) terminal.print()
    printProblems(terminal, problems)
  }
  if (answer.items.some(({ state }) => state === 'failed')) process.exitCode = exitCodes.invalid
}
