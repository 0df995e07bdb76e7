import { type Command, Option } from 'commander'
import { isApiError } from './api/api-error.ts'
import { toPath } from './client.ts'
import { checkSettings, configureLevel, waitUntilActive } from './commands/installations/configure-level.ts'
import { findInstallation, type PlaceOptions } from './commands/installations/find-installation.ts'
import { type Level, levelPath, nameLevel } from './commands/installations/installed-level.ts'
import { printInstalled } from './commands/installations/print-installed.ts'
import { collect, toSettings } from './commands/installations/settings-from-text.ts'
import { findOrganization, findPlace } from './find-records.ts'
import type { Installation, Integration, Organization, TargetInstallation } from './records.ts'
import { openSession, type Session } from './session.ts'
import { withExamples } from './with-examples.ts'

type Options = PlaceOptions & { set?: string[]; installKey?: string }

/** `annex install`: in an organization, in one of its sites or spaces if named, with settings if given. */
export function addInstall(program: Command): void {
  const command = program
    .command('install')
    .description('install an integration in an organization, and in a site or a space of it')
    .argument('<integration>', 'name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .addOption(new Option('--site <name>', 'site: id or slug').conflicts('space'))
    .option('--space <name>', 'space: id or slug')
    .option('--set <name=value>', 'a setting of that site or space, else of the account; repeatable', collect)
    .option('--install-key <key>', 'from the install link of an unlisted integration')
    .action(run)
  withExamples(command, [
    'annex install echo',
    'annex install webhook --site sample --set webhook_url=https://example.com/hook --set site_view=true',
  ])
}

async function run(name: string, options: Options, command: Command): Promise<void> {
  // What cannot be read is said before anything is changed.
  toSettings(options.set ?? [], undefined)
  const session = openSession(command)
  await install(session, name, options, (installed) => printInstalled(session.terminal, installed))
}

/** What a command made or found. A signing secret is there only when it was made: it is shown once. */
export type Installed = {
  integration: Integration
  installation: Installation
  /** The site or space installation. */
  target?: TargetInstallation
  level: Level
  signingSecrets: { level: string; secret: string }[]
}

/**
 * Installs what is not installed yet, then sets the settings. Wrong settings install nothing. A second run installs
 * nothing more.
 *
 * @param show called once, even when the settings are refused after installing: secrets are shown only now
 */
async function install(
  session: Session,
  name: string,
  options: Options,
  show: (installed: Installed) => void,
): Promise<void> {
  const { api } = session
  const integration = await api.get<Integration>(toPath`/v1/integrations/${name}`)
  const organization = await findOrganization(session, options.org)
  const place = await findNamedPlace(session, organization, options)
  const settings = await checkSettings(api, integration, { ...(place && { place }) }, options.set ?? [])
  const made = await ensureInstallation(session, name, organization, options.installKey)
  const account: Level = { installation: made }
  const level: Level = { ...account, ...(place && { place }) }
  const target = place && (await ensureTarget(session, level))
  const signingSecrets = toSecrets([account, made], target && [level, target])
  let refused: unknown
  await configureLevel(api, level, { set: settings }).catch((error) => {
    refused = error
  })
  const installation = (await waitUntilActive(api, account)) as Installation
  const now = place && ((await waitUntilActive(api, level)) as TargetInstallation)
  show({ integration, installation, ...(now && { target: now }), level, signingSecrets })
  if (refused !== undefined) throw refused
}

async function findNamedPlace(session: Session, organization: Organization, { site, space }: PlaceOptions) {
  if (site !== undefined) return findPlace(session, organization, 'site', site)
  return space === undefined ? undefined : findPlace(session, organization, 'space', space)
}

async function ensureInstallation(
  session: Session,
  name: string,
  { id }: Organization,
  installKey?: string,
): Promise<Installation> {
  const body = { organization: id, ...(installKey !== undefined && { installKey }) }
  try {
    return await session.api.post(toPath`/v1/integrations/${name}/installations`, body)
  } catch (error) {
    if (isApiError(error, 'conflict')) return findInstallation(session, name, { org: id })
    throw error
  }
}

async function ensureTarget({ api }: Session, level: Level): Promise<TargetInstallation> {
  const { installation, place } = level
  const kind = place?.object ?? 'site'
  try {
    return await api.post(`${levelPath({ installation })}/${kind}s`, { [kind]: place?.id })
  } catch (error) {
    if (isApiError(error, 'conflict')) return api.get(levelPath(level))
    throw error
  }
}

function toSecrets(
  ...levels: ([Level, { signingSecret?: string }] | undefined)[]
): { level: string; secret: string }[] {
  return levels.flatMap((entry) => {
    const secret = entry?.[1].signingSecret
    return entry === undefined || secret === undefined ? [] : [{ level: nameLevel(entry[0]), secret }]
  })
}
