import type { Command } from 'commander'
import { findInstallation, findLevel, type LevelOptions, paramsOf } from './find-records.ts'
import { addLevelOptions, withExamples } from './options.ts'
import { openSession } from './session.ts'
import { printTable } from './terminal.ts'

type Options = LevelOptions & { search?: string; page?: string }

export function addSettingOptions(program: Command): void {
  const command = addLevelOptions(
    program
      .command('options')
      .description('list the values that a setting can have, as its script answers them')
      .argument('<installation>', 'id of the installation, or name of the integration')
      .argument('<setting>', 'name of a setting that has a completion_url'),
    (kind) => `setting of this ${kind}`,
  )
    .option('--search <text>', 'only values that fit this text')
    .option('--page <text>', 'the page after another: `next` of its --json')
    .action(listOptions)
  withExamples(command, ['annex options tracker project --search docs'])
}

async function listOptions(
  named: string,
  setting: string,
  options: Options,
  command: Command,
): Promise<void> {
  const session = openSession(command)
  const { terminal } = session
  const { search: q, page } = options
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const answer = await session.api.call(
    'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/options',
    { params: { ...paramsOf(level), property: setting }, query: { q, page } },
  )
  if (terminal.json) return terminal.printJson(answer)
  const rows = answer.options.map(({ value, label }) => [value, label])
  printTable(terminal, ['value', 'label'], rows)
  if (answer.next !== undefined) terminal.say(`There is more: --page ${answer.next}`)
}
