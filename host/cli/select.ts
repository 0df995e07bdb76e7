import { type Command, Option } from 'commander'
import type { PlaceSelection } from '../../schemas/generated/api/installations.ts'
import { findInstallation, type LevelOptions, paramsOf } from './find-records.ts'
import { withExamples } from './options.ts'
import { openSession } from './session.ts'

const createSelectionOption = (kind: 'sites' | 'spaces'): Option =>
  new Option(`--${kind} <which>`, `all: new ${kind} get the integration, too`).choices(['all', 'selected'])

export function addSelect(program: Command): void {
  const command = program
    .command('select')
    .description(
      'show or choose the sites and spaces of an installation: all, or those that people install in',
    )
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .addOption(createSelectionOption('sites'))
    .addOption(createSelectionOption('spaces'))
    .action(select)
  withExamples(command, ['annex select webhook', 'annex select webhook --sites all --spaces selected'])
}

async function select(
  named: string,
  { org, ...selections }: Pick<LevelOptions, 'org'> & PlaceSelection,
  command: Command,
): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const found = await findInstallation(session, named, org === undefined ? {} : { org })
  const isChange = Object.keys(selections).length > 0
  const installation = isChange
    ? await api.call('PUT /v1/integrations/{integration}/installations/{installation}/selection', {
        params: paramsOf({ installation: found }),
        body: selections,
      })
    : found
  const { site_selection: sites, space_selection: spaces } = installation
  if (terminal.json) return terminal.printJson({ sites, spaces })
  terminal.print(`sites: ${sites}`)
  terminal.print(`spaces: ${spaces}`)
  if (isChange) terminal.say(`\`npx annex installations ${found.id}\` shows all sites and spaces.`)
}
