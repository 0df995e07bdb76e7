import type { Command } from 'commander'
import { findInstallation, findLevel, type LevelOptions, nameLevel, paramsOf } from './find-records.ts'
import { addLevelOptions, UsageError, withExamples } from './options.ts'
import { openSession } from './session.ts'
import { confirm } from './terminal.ts'

type Options = LevelOptions & { yes?: true }

export function addUninstall(program: Command): void {
  const command = addLevelOptions(
    program
      .command('uninstall')
      .description('uninstall an integration from an organization, or from one of its sites or spaces')
      .argument('<installation>', 'id of the installation, or name of the integration'),
    (kind) => `from this ${kind} only`,
  )
    .option('--yes', 'ask nothing')
    .action(uninstall)
  withExamples(command, ['annex uninstall webhook --site sample', 'annex uninstall webhook --yes'])
}

async function uninstall(named: string, options: Options, command: Command): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const what = level.place === undefined ? 'the organization, with all sites and spaces' : nameLevel(level)
  const question = `Uninstall ${installation.integration} from ${what}? Its settings and secrets end.`
  const isSure = options.yes ?? (await confirm(terminal, question))
  if (isSure === undefined) throw new UsageError('Without a terminal, say --yes.')
  if (!isSure) return terminal.say('Nothing was uninstalled.')
  await api.call('DELETE /v1/integrations/{integration}/installations/{installation}', {
    params: paramsOf(level),
  })
  if (terminal.json) return terminal.printJson({ uninstalled: installation.id })
  terminal.print(`uninstalled ${installation.integration} from ${what}`)
}
