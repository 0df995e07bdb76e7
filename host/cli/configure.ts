import { type Command, Option } from 'commander'
import { toPath } from './client.ts'
import { checkSettings, configureLevel } from './commands/installations/configure-level.ts'
import { findInstallation, findLevel, type PlaceOptions } from './commands/installations/find-installation.ts'
import { printInstalled } from './commands/installations/print-installed.ts'
import { collect } from './commands/installations/settings-from-text.ts'
import type { Installation, Integration, TargetInstallation } from './records.ts'
import { openSession } from './session.ts'
import { UsageError } from './usage-error.ts'
import { withExamples } from './with-examples.ts'

type Options = PlaceOptions & { set?: string[]; unset?: string[] }

/** `annex configure`: changes some settings and keeps the others. */
export function addConfigure(program: Command): void {
  const command = program
    .command('configure')
    .description('change settings of an installation; those not named stay as they are')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .addOption(new Option('--site <name>', 'its settings in that site: id or slug').conflicts('space'))
    .option('--space <name>', 'its settings in that space: id or slug')
    .option('--set <name=value>', 'a setting; repeatable', collect)
    .option('--unset <name>', 'take a setting away; repeatable', collect)
    .action(configure)
  withExamples(command, [
    'annex configure webhook --site sample --set page_feedback=true',
    'annex configure webhook --space handbook --unset webhook_url',
  ])
}

async function configure(named: string, options: Options, command: Command): Promise<void> {
  const { set = [], unset = [] } = options
  if (set.length + unset.length === 0)
    throw new UsageError('Say what to change: --set name=value or --unset name.')
  const session = openSession(command)
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const integration = await session.api.get<Integration>(toPath`/v1/integrations/${installation.integration}`)
  // Nothing is changed where one of the settings is wrong.
  const settings = await checkSettings(session.api, integration, level, set)
  const changed = await configureLevel(session.api, level, { set: settings, unset })
  const parts =
    level.place === undefined
      ? { installation: changed as Installation }
      : { installation, target: changed as TargetInstallation }
  printInstalled(session.terminal, { integration, ...parts, level, signingSecrets: [] })
}
