import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { type Client, isApiError } from '../../schemas/client.ts'
import type { Installation } from '../../schemas/generated/api/installations.ts'
import type { SettingSchema } from '../manifest/settings/settings-schema.ts'
import {
  findInstallation,
  findLevel,
  type InstalledLevel,
  type LevelOptions,
  type LevelRecord,
  nameLevel,
  paramsOf,
  readIntegration,
  settingsOf,
} from './find-records.ts'
import { sayPending } from './installations.ts'
import { addLevelOptions, collect, UsageError, withExamples } from './options.ts'
import type { Integration } from './records.ts'
import { openSession } from './session.ts'
import { paint, type Terminal, toStatus } from './terminal.ts'

type Options = LevelOptions & { set?: string[]; unset?: string[] }

export function addConfigure(program: Command): void {
  const command = addLevelOptions(
    program
      .command('configure')
      .description('change settings of an installation; other settings keep their values')
      .argument('<installation>', 'id of the installation, or name of the integration'),
    (kind) => `settings of this ${kind}`,
  )
    .option('--set <name=value>', 'sets a setting; repeatable', collect)
    .option('--unset <name>', 'removes a setting; repeatable', collect)
    .action(configure)
  withExamples(command, [
    'annex configure webhook --site sample --set page_feedback=true',
    'annex configure webhook --space handbook --unset webhook_url',
  ])
}

async function configure(named: string, options: Options, command: Command): Promise<void> {
  const { set = [], unset = [] } = options
  if (set.length + unset.length === 0)
    throw new UsageError('Name a change: --set name=value or --unset name.')
  const session = openSession(command)
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const integration = await readIntegration(session.api, installation.integration)
  // One wrong setting changes nothing.
  const settings = await checkSettings(session.api, integration, level, set)
  const changed = await configureLevel(session.api, level, { set: settings, unset }).catch((error) => {
    throw withLevelHint(error, integration, level.place?.object ?? 'account', unset)
  })
  const records =
    changed.object === 'installation' ? { installation: changed } : { installation, placeLevel: changed }
  printInstalled(session.terminal, { integration, ...records, level, signingSecrets: [] })
}

/**
 * Checks pairs `name=value` on the server.
 *
 * @throws ApiError `configuration_invalid` with a detail for each wrong setting
 */
export async function checkSettings(
  api: Client,
  integration: Integration,
  { place }: Pick<InstalledLevel, 'place'>,
  pairs: string[],
  query: { installKey?: string } = {},
): Promise<Record<string, unknown>> {
  const configuration = toSettings(pairs, settingsOf(integration, { place })?.properties)
  const level: LevelKind = place?.object ?? 'account'
  const params = { integration: integration.name }
  const body = { level, configuration }
  await api
    .call('POST /v1/integrations/{integration}/settings/check', { params, query, body })
    .catch((error) => {
      throw withLevelHint(error, integration, level, Object.keys(configuration))
    })
  return configuration
}

type LevelKind = keyof Integration['configurations']
const flags = { account: 'without --site and --space', site: 'with --site', space: 'with --space' } as const

/** Adds to a refusal the flag for each setting that belongs to another level. */
function withLevelHint(
  error: unknown,
  { configurations }: Integration,
  level: LevelKind,
  names: string[],
): unknown {
  if (!isApiError(error, 'configuration_invalid')) return error
  const has = (kind: LevelKind, name: string) => Object.hasOwn(configurations[kind]?.properties ?? {}, name)
  for (const name of names.filter((given) => !has(level, given))) {
    const owning = (['account', 'site', 'space'] as const).filter((kind) => has(kind, name))
    if (owning.length > 0)
      error.message += `\nName ${name} ${owning.map((kind) => flags[kind]).join(', or ')}.`
  }
  return error
}

/** Changes settings of a level, one after the other. Other settings keep their values. */
export async function configureLevel(
  api: Client,
  level: InstalledLevel,
  change: { set: Record<string, unknown>; unset?: string[] },
): Promise<LevelRecord> {
  const params = paramsOf(level)
  let now = await api.read('GET /v1/integrations/{integration}/installations/{installation}', { params })
  for (const property of change.unset ?? []) {
    now = await api.read(
      'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}',
      { params: { ...params, property }, headers: { 'if-match': now.etag } },
    )
  }
  for (const [property, value] of Object.entries(change.set)) {
    now = await api.read(
      'PUT /v1/integrations/{integration}/installations/{installation}/configuration/{property}',
      { params: { ...params, property }, headers: { 'if-match': now.etag }, body: { value } },
    )
  }
  return now.value
}

const setupTimeoutMs = 10_000

/**
 * Waits until a level is active, so that the next command can publish events to it. A level with complete settings
 * becomes active once its script has handled the setup event.
 */
export async function waitUntilActive<Level extends LevelRecord>(read: () => Promise<Level>): Promise<Level> {
  const until = Date.now() + setupTimeoutMs
  for (;;) {
    const found = await read()
    const isExplained = found.problems !== undefined || found.statusReason !== undefined
    if (isExplained || found.status !== 'pending' || Date.now() > until) return found
    await sleep(50)
  }
}

/**
 * Settings from `--set name=value`. A value gets the type that the manifest declares: number, boolean or text. Other
 * values and undeclared settings stay text: the server's answer names all wrong settings at once.
 *
 * @throws UsageError for a pair without a name or `=`, and for a number that would be rounded
 */
export function toSettings(
  pairs: string[],
  declared: Record<string, SettingSchema> | undefined,
): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, text = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
      if (name === undefined) throw new UsageError(`--set takes name=value, not "${pair}".`)
      const type = declared !== undefined && Object.hasOwn(declared, name) ? declared[name]?.type : undefined
      return [name, convert(name, text, type)]
    }),
  )
}

function convert(name: string, text: string, type: SettingSchema['type']): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type !== 'number' || text.trim() === '') return text
  const value = Number(text)
  if (Number.isFinite(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new UsageError(`--set ${name}: ${text} is beyond ${Number.MAX_SAFE_INTEGER} and would be rounded.`)
  }
  return Number.isFinite(value) ? value : text
}

export type Installed = {
  integration: Integration
  installation: Installation
  /** The site or space installation. */
  placeLevel?: LevelRecord
  level: InstalledLevel
  /** Only of levels that are new: each secret is shown once. */
  signingSecrets: { level: string; secret: string }[]
}

/** Prints the ids, status, endpoint and new secrets of an installation. */
export function printInstalled(
  terminal: Terminal,
  { integration: declared, installation, placeLevel, level, signingSecrets }: Installed,
): void {
  if (terminal.json) {
    terminal.printJson({ installation, ...(placeLevel && { target: placeLevel }), signingSecrets })
    return
  }
  const { integration, id } = installation
  terminal.print(paint('bold', integration), ` ${id} `, toStatus(installation.status))
  if (placeLevel !== undefined) terminal.print(`${nameLevel(level)} `, toStatus(placeLevel.status))
  terminal.print(`endpoint ${(placeLevel ?? installation).urls.publicEndpoint}`)
  for (const { level: name, secret } of signingSecrets) terminal.print(`signing secret (${name}) ${secret}`)
  if (signingSecrets.length > 0) terminal.say('Keep the signing secrets: they are shown only once.')
  if (installation.status === 'pending') sayPending(terminal, declared, { ...installation, kind: 'account' })
  const { place } = level
  if (placeLevel?.status === 'pending' && place !== undefined) {
    sayPending(terminal, declared, { ...placeLevel, kind: place.object, place: place.slug })
  }
}
