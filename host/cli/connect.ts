import type { Command } from 'commander'
import {
  findInstallation,
  findLevel,
  type LevelOptions,
  paramsOf,
  readIntegration,
  settingsOf,
} from './find-records.ts'
import { addLevelOptions, UsageError, withExamples } from './options.ts'
import type { Integration } from './records.ts'
import { openSession } from './session.ts'

type Options = LevelOptions & { path?: string }

export function addConnect(program: Command): void {
  const command = addLevelOptions(
    program
      .command('connect')
      .description('connect an installation with a provider: prints a link to open in a browser')
      .argument('<installation>', 'id of the installation, or name of the integration')
      .argument('[button]', 'name of the setting; may be left out where there is one button'),
    (kind) => `connect this ${kind}`,
  )
    .option('--path <path>', 'for an integration without buttons: the path at which its connection begins')
    .action(connect)
  withExamples(command, [
    'annex connect tracker account',
    'annex connect tracker --site sample --path /oauth',
  ])
}

async function connect(
  named: string,
  button: string | undefined,
  options: Options,
  command: Command,
): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const integration = await readIntegration(api, installation.integration)
  const params = paramsOf(level)
  const link =
    options.path === undefined
      ? await api.call(
          'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect',
          { params: { ...params, property: button ?? onlyButton(integration, level) } },
        )
      : await api.call('POST /v1/integrations/{integration}/installations/{installation}/connect', {
          params,
          body: { path: options.path },
        })
  if (terminal.json) return terminal.printJson(link)
  terminal.print(link.url)
  terminal.say('Open this link in a browser. It works once, for ten minutes.')
}

/** @throws UsageError unless the level has one button */
function onlyButton(integration: Integration, level: Parameters<typeof settingsOf>[1]): string {
  const properties = settingsOf(integration, level)?.properties ?? {}
  const buttons = Object.keys(properties).filter((name) => properties[name]?.callback_url !== undefined)
  const [only] = buttons
  if (only !== undefined && buttons.length === 1) return only
  if (only !== undefined) throw new UsageError(`Name a button: ${buttons.join(', ')}.`)
  throw new UsageError(`${integration.name} has no button here. Name the path of its connection with --path.`)
}
