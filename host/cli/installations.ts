import type { Command } from 'commander'
import { toPath } from './client.ts'
import { findInstallation, type PlaceOptions } from './commands/installations/find-installation.ts'
import { levelPath } from './commands/installations/installed-level.ts'
import { sayPending } from './commands/installations/say-pending.ts'
import { findOrganization } from './find-records.ts'
import type { Installation, Integration, List, TargetInstallation } from './records.ts'
import { openSession, type Session } from './session.ts'
import { printTable, toStatus } from './terminal/table.ts'
import { paint, type Terminal } from './terminal.ts'
import { withExamples } from './with-examples.ts'

/** `annex installations`: what is installed where; with a name, one of them with its sites, spaces and settings. */
export function addInstallations(program: Command): void {
  const command = program
    .command('installations')
    .description('list installations, or show one with its sites, spaces and settings')
    .argument('[installation]', 'id of an installation, or name of an integration')
    .option('--org <name>', 'organization: id or subdomain')
    .action(async (named: string | undefined, options: PlaceOptions, command: Command) => {
      const session = openSession(command)
      await (named === undefined ? list(session, options) : show(session, named, options))
    })
  withExamples(command, ['annex installations', 'annex installations webhook --json'])
}

async function list(session: Session, { org }: PlaceOptions): Promise<void> {
  const { api, terminal } = session
  const query = org === undefined ? {} : { organization: (await findOrganization(session, org)).id }
  const answer = await api.get<List<Installation>>('/v1/installations', query)
  if (terminal.json) return terminal.printJson(answer)
  const rows = answer.items.map(({ id, integration, status, target }) => [
    id,
    integration,
    toStatus(status),
    target.organization,
  ])
  printTable(terminal, ['installation', 'integration', 'status', 'organization'], rows)
  for (const { id, status, statusReason } of answer.items) {
    if (status === 'suspended') saySuspended(terminal, id, statusReason)
  }
}

async function show(session: Session, named: string, options: PlaceOptions): Promise<void> {
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const path = levelPath({ installation })
  const sites = await api.get<List<TargetInstallation>>(`${path}/sites`)
  const spaces = await api.get<List<TargetInstallation>>(`${path}/spaces`)
  if (terminal.json) return terminal.printJson({ ...installation, sites: sites.items, spaces: spaces.items })
  const { id, integration, status, statusReason } = installation
  terminal.print(paint('bold', integration), ` ${id} `, toStatus(status))
  if (statusReason !== undefined) terminal.print(statusReason)
  if (status === 'suspended') saySuspended(terminal, id)
  for (const level of [installation, ...sites.items, ...spaces.items]) {
    terminal.print()
    const name =
      'site' in level ? `site ${level.site}` : 'space' in level ? `space ${level.space}` : 'account'
    terminal.print(paint('bold', name), ' ', toStatus(level.status))
    terminal.print(`  endpoint ${level.urls.publicEndpoint}`)
    for (const [setting, value] of Object.entries(level.configuration)) {
      terminal.print(`  ${setting} = ${JSON.stringify(value)}`)
    }
    for (const [button, isConnected] of Object.entries(level.connections ?? {})) {
      terminal.print(`  ${button}: ${isConnected ? 'connected' : 'not connected'}`)
    }
  }
  await sayAllPending(session, installation, [...sites.items, ...spaces.items])
}

/** Why something is suspended, and what to do. */
function saySuspended(terminal: Terminal, id: string, reason = ''): void {
  terminal.say(
    `${id} is suspended. ${reason}${reason === '' ? '' : ' '}A new version of its script lifts that, and so does`,
    ` \`annex resume ${id}\`.`,
  )
}

async function sayAllPending(
  { api, terminal }: Session,
  installation: Installation,
  targets: TargetInstallation[],
): Promise<void> {
  const pending = [installation, ...targets].filter(({ status }) => status === 'pending')
  if (pending.length === 0) return
  // An integration that is of another organization, and private since, is not shown to those who have it.
  const declared = await api
    .get<Integration>(toPath`/v1/integrations/${installation.integration}`)
    .catch(() => undefined)
  if (declared === undefined) return
  for (const level of pending) {
    const site = 'site' in level ? level.site : undefined
    const space = 'space' in level ? level.space : undefined
    const kind = site !== undefined ? 'site' : space !== undefined ? 'space' : 'account'
    sayPending(terminal, declared, { ...level, kind, place: site ?? space })
  }
}
