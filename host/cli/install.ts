import type { Command } from 'commander'
import { isApiError } from '../../schemas/client.ts'
import type { Installation, InstallRequest, NewSecret } from '../../schemas/generated/api/installations.ts'
import type { Organization } from '../../schemas/generated/api/organizations.ts'
import { AnnexError } from '../errors.ts'
import { checkSettings, configureLevel, printInstalled, toSettings, waitUntilActive } from './configure.ts'
import {
  findInstallation,
  findOrganization,
  findSiteOrSpace,
  type InstalledLevel,
  type LevelOptions,
  type LevelRecord,
  nameLevel,
  paramsOf,
  readInstallation,
  readIntegration,
  readLevel,
} from './find-records.ts'
import { addLevelOptions, collect, UsageError, withExamples } from './options.ts'
import type { Integration, SiteOrSpace } from './records.ts'
import { openSession, type Session } from './session.ts'
import { confirm, type Terminal } from './terminal.ts'

/** Only a new level has a secret to show. */
type MaybeNew<Level extends LevelRecord> = Level & Partial<NewSecret>
type Options = LevelOptions & { set?: string[]; installKey?: string; yes?: true }

export function addInstall(program: Command): void {
  const command = addLevelOptions(
    program
      .command('install')
      .description('install an integration in an organization, and in one of its sites or spaces')
      .argument('<integration>', 'name of the integration'),
    (kind) => kind,
  )
    .option('--set <name=value>', 'a setting of the site or space, else of the account; repeatable', collect)
    .option('--install-key <key>', 'key from the install link of an unlisted integration')
    .option('--yes', 'agree to all that the integration asks for')
    .action(install)
  withExamples(command, [
    'annex install echo',
    'annex install webhook --site sample --set webhook_url=https://example.com/hook --set site_view=true --yes',
  ])
}

/** Installs each level that is not installed yet, then sets the settings. Wrong settings install nothing. */
async function install(name: string, options: Options, command: Command): Promise<void> {
  // A malformed `--set` fails before the first request.
  toSettings(options.set ?? [], undefined)
  const session = openSession(command)
  const byLink = options.installKey === undefined ? {} : { installKey: options.installKey }
  const { api, terminal } = session
  const integration = await readIntegration(api, name, byLink)
  const organization = await findOrganization(session, options.org)
  const place = await findWantedPlace(session, organization, options)
  const where = { ...(place && { place }) }
  const settings = await checkSettings(api, integration, where, options.set ?? [], byLink)
  const made = await ensureInstallation(session, integration, organization, options)
  const level: InstalledLevel = { installation: made, ...where }
  const placeLevel = place && (await ensureInstalledIn(session, made, place))
  const signingSecrets = toSecrets([{}, made], placeLevel && [level, placeLevel])
  let refused: unknown
  await configureLevel(api, level, { set: settings }).catch((error) => {
    refused = error
  })
  const installation = await waitUntilActive(() => readInstallation(api, made.id))
  const now = place && (await waitUntilActive(() => readLevel(api, paramsOf(level))))
  // Also after refused settings: the secrets are shown only now.
  printInstalled(terminal, {
    integration,
    installation,
    ...(now && { placeLevel: now }),
    level,
    signingSecrets,
  })
  if (refused !== undefined) throw refused
}

async function findWantedPlace(session: Session, organization: Organization, { site, space }: LevelOptions) {
  if (site !== undefined) return findSiteOrSpace(session, organization, 'site', site)
  return space === undefined ? undefined : findSiteOrSpace(session, organization, 'space', space)
}

async function ensureInstallation(
  session: Session,
  integration: Integration,
  { id }: Organization,
  options: Options,
): Promise<MaybeNew<Installation>> {
  const { api, terminal } = session
  const { name } = integration
  const installAs = (body: InstallRequest) =>
    api.call('POST /v1/integrations/{integration}/installations', { params: { integration: name }, body })
  const { installKey, yes } = options
  const body = { organization: id, ...(installKey !== undefined && { installKey }) }
  const agreed = { ...body, ...toAgreement(integration) }
  try {
    return await installAs(yes ? agreed : { ...body, agree: false })
  } catch (error) {
    if (isApiError(error, 'conflict')) return findInstallation(session, name, { org: id })
    if (!isApiError(error, 'agreement_missing') || yes) throw error
    const asked = integration.page?.permissions.map(({ sentence }) => `\n  ${sentence}`).join('')
    const question = `Version ${integration.version?.number} of ${name} asks for:${asked || ' nothing.'}`
    await askToAgree(terminal, question, toCommand(name, options))
    return installAs(agreed)
  }
}

/** The words that agree to the version which the command has read. */
export const toAgreement = ({
  version,
  scopes,
}: Pick<Integration, 'version' | 'scopes'>): { version?: number; scopes: string[] } => ({
  ...(version !== null && { version: version.number }),
  scopes,
})

/** The command with its agreement. Keys and values of settings may be secret, and stay out of logs. */
function toCommand(name: string, { org, site, space, set = [], installKey }: Options): string {
  const options = { org, site, space, 'install-key': installKey && '…' }
  const given = Object.entries(options).flatMap(([option, value]) => (value ? [`--${option} ${value}`] : []))
  const settings = set.map((setting) => `--set ${setting.split('=', 1)[0]}=…`)
  return ['npx annex install', name, ...given, ...settings, '--yes'].join(' ')
}

/**
 * Asks a person. Without a terminal there is no agreement, whatever an integration asks for.
 *
 * @param command agrees without a question
 * @throws UsageError without a terminal; AnnexError `agreement_missing` when the answer is no
 */
export async function askToAgree(terminal: Terminal, asked: string, command: string): Promise<void> {
  terminal.say(asked)
  const isAgreed = await confirm(terminal, 'Do you agree?')
  if (isAgreed === undefined) {
    throw new UsageError(`Nothing was changed. Without a terminal, agree with --yes: ${command}`)
  }
  if (!isAgreed) throw new AnnexError('agreement_missing', 'You did not agree, and nothing was changed.')
}

async function ensureInstalledIn(
  { api }: Session,
  installation: Installation,
  place: SiteOrSpace,
): Promise<MaybeNew<LevelRecord>> {
  const params = paramsOf({ installation })
  try {
    return place.object === 'site'
      ? await api.call('POST /v1/integrations/{integration}/installations/{installation}/sites', {
          params,
          body: { site: place.id },
        })
      : await api.call('POST /v1/integrations/{integration}/installations/{installation}/spaces', {
          params,
          body: { space: place.id },
        })
  } catch (error) {
    if (isApiError(error, 'conflict')) return readLevel(api, paramsOf({ installation, place }))
    throw error
  }
}

function toSecrets(
  ...levels: ([Pick<InstalledLevel, 'place'>, MaybeNew<LevelRecord>] | undefined)[]
): { level: string; secret: string }[] {
  return levels.flatMap((entry) => {
    const secret = entry?.[1].signingSecret
    return entry === undefined || secret === undefined ? [] : [{ level: nameLevel(entry[0]), secret }]
  })
}
