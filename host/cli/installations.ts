import type { Command } from 'commander'
import type { Installation, SiteInstallation } from '../../schemas/generated/api/installations.ts'
import type { Connection } from '../installations/connections.ts'
import { readAll } from './client.ts'
import {
  findInstallation,
  findOrganization,
  type LevelOptions,
  type LevelRecord,
  paramsOf,
  readIntegration,
  readLevel,
} from './find-records.ts'
import { UsageError, withExamples } from './options.ts'
import type { Integration } from './records.ts'
import { openSession, type Session } from './session.ts'
import { paint, printTable, type Terminal, toStatus } from './terminal.ts'

export function addInstallations(program: Command): void {
  const command = program
    .command('installations')
    .description('list installations, or show one with its sites, spaces and settings')
    .argument('[installation]', 'id of an installation, or name of an integration')
    .option('--org <name>', 'organization: id or subdomain')
    .action(async (named: string | undefined, options: LevelOptions, command: Command) => {
      const session = openSession(command)
      await (named === undefined ? list(session, options) : show(session, named, options))
    })
  withExamples(command, ['annex installations', 'annex installations webhook --json'])
}

async function list(session: Session, { org }: LevelOptions): Promise<void> {
  const { api, terminal } = session
  const query = org === undefined ? {} : { organization: (await findOrganization(session, org)).id }
  const answer = await readAll(api.all('GET /v1/installations', { query }))
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

async function show(session: Session, named: string, options: LevelOptions): Promise<void> {
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const params = paramsOf({ installation })
  const inSites = await readAll(
    api.all('GET /v1/integrations/{integration}/installations/{installation}/sites', { params }),
  )
  const inSpaces = await readAll(
    api.all('GET /v1/integrations/{integration}/installations/{installation}/spaces', { params }),
  )
  // A list leaves out settings.
  const sites = await Promise.all(inSites.items.map(({ site }) => readLevel(api, { ...params, site })))
  const spaces = await Promise.all(inSpaces.items.map(({ space }) => readLevel(api, { ...params, space })))
  if (terminal.json) return terminal.printJson({ ...installation, sites, spaces })
  const { id, integration, status, statusReason } = installation
  terminal.print(paint('bold', integration), ` ${id} `, toStatus(status))
  if (statusReason !== undefined) terminal.print(statusReason)
  if (status === 'suspended') saySuspended(terminal, id)
  const levels = [installation, ...sites, ...spaces]
  for (const level of levels) {
    terminal.print()
    const name =
      'site' in level ? `site ${level.site}` : 'space' in level ? `space ${level.space}` : 'account'
    terminal.print(paint('bold', name), ' ', toStatus(level.status))
    terminal.print(`  endpoint ${level.urls.publicEndpoint}`)
    if ('site' in level) sayAddresses(terminal, level.urls)
    if (level !== installation && level.statusReason !== undefined) terminal.print(`  ${level.statusReason}`)
    for (const [setting, value] of Object.entries(level.configuration)) {
      const mark = level.unconfirmed?.includes(setting) ? ' (no list of choices has had it)' : ''
      terminal.print(`  ${setting} = ${JSON.stringify(value)}`, paint('yellow', mark))
    }
    for (const [button, connection] of Object.entries(level.connections ?? {})) {
      terminal.print(`  ${button}: ${describeConnection(connection)}`)
    }
  }
  const isHeld = levels.some(({ connections = {} }) => Object.values(connections).some(({ held }) => held))
  // An account is a text of a stranger: a command to paste would run it in a shell.
  if (isHeld) terminal.say('`npx annex connections` accepts or refuses the account that waits.')
  await sayAllPending(session, installation, [...sites, ...spaces])
}

export function describeConnection(connection: Connection): string {
  const { state, account, since, expiresAt, lastError, held } = connection
  const parts = [
    account !== undefined && `as ${account}`,
    since !== undefined && `since ${since}`,
    expiresAt !== undefined && `until ${expiresAt}`,
    lastError !== undefined && `(${lastError})`,
    held !== undefined &&
      `(${held.account} waits for a yes until ${held.until}, in place of ${held.replaces})`,
  ]
  return [state === 'none' ? 'not connected' : state, ...parts.filter((part) => part !== false)].join(' ')
}

function sayAddresses(terminal: Terminal, urls: SiteInstallation['urls']): void {
  const { publishedScript, visitorAuthentication } = urls
  if (publishedScript !== undefined) terminal.print(`  script ${publishedScript}`)
  if (visitorAuthentication !== undefined) terminal.print(`  sign-in ${visitorAuthentication}`)
}

function saySuspended(terminal: Terminal, id: string, reason = ''): void {
  const why = reason === '' ? '' : ` ${reason}`
  terminal.say(
    `${id} is suspended.${why} A new version of its script or \`npx annex resume ${id}\` lifts this.`,
  )
}

async function sayAllPending(
  { api, terminal }: Session,
  installation: Installation,
  placeLevels: LevelRecord[],
): Promise<void> {
  // A reason alone is printed with its level.
  const pending = [installation, ...placeLevels].filter(
    ({ status, statusReason, problems }) =>
      status === 'pending' && (problems !== undefined || statusReason === undefined),
  )
  if (pending.length === 0) return
  // The token may not see an integration that another organization has made private since.
  const declared = await readIntegration(api, installation.integration).catch(() => undefined)
  if (declared === undefined) return
  for (const level of pending) {
    const site = 'site' in level ? level.site : undefined
    const space = 'space' in level ? level.space : undefined
    const kind = site !== undefined ? 'site' : space !== undefined ? 'space' : 'account'
    sayPending(terminal, declared, { ...level, kind, place: site ?? space })
  }
}

export function addPauseAndResume(program: Command): void {
  const pause = program
    .command('pause')
    .description('pause an installation: its events wait, and its public endpoint answers 503')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .action((named: string, options: LevelOptions, command: Command) =>
      change(openSession(command), 'pause', named, options),
    )
  withExamples(pause, ['annex pause webhook'])

  const resume = program
    .command('resume')
    .description('resume a paused or suspended installation; events that waited are handled')
    .argument('[installation]', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--integration <name>', 'resume an integration that is suspended as a whole')
    .action(
      async (
        named: string | undefined,
        options: LevelOptions & { integration?: string },
        command: Command,
      ) => {
        const session = openSession(command)
        const { integration, ...others } = options
        if (integration !== undefined && named === undefined) return resumeWhole(session, integration)
        if (integration === undefined && named !== undefined) return change(session, 'resume', named, others)
        throw new UsageError('Name an installation, or an integration with --integration.')
      },
    )
  withExamples(resume, ['annex resume webhook', 'annex resume --integration webhook'])
}

async function change(
  session: Session,
  verb: 'pause' | 'resume',
  named: string,
  options: LevelOptions,
): Promise<void> {
  const { api, terminal } = session
  const found = await findInstallation(session, named, options)
  const params = paramsOf({ installation: found })
  const changed =
    verb === 'pause'
      ? await api.call('POST /v1/integrations/{integration}/installations/{installation}/pause', { params })
      : await api.call('POST /v1/integrations/{integration}/installations/{installation}/resume', { params })
  if (terminal.json) return terminal.printJson(changed)
  terminal.print(`${changed.integration} ${changed.id} `, toStatus(changed.status))
}

async function resumeWhole({ api, terminal }: Session, integration: string): Promise<void> {
  const params = { integration }
  const changed = await api.call('POST /v1/integrations/{integration}/resume', { params })
  if (terminal.json) return terminal.printJson(changed)
  terminal.print(`${changed.name} `, toStatus('active'))
}

/** A level of an installation whose status is `pending`. */
export type PendingLevel = Pick<LevelRecord, 'problems' | 'statusReason'> & {
  kind: 'account' | 'site' | 'space'
  /** Slug or id of the site or space. */
  place?: string | undefined
}

/** Explains why a level gets no events yet: each wrong setting, and the command or address that sets it. */
export function sayPending(
  terminal: Terminal,
  { name, configurations }: Pick<Integration, 'name' | 'configurations'>,
  { kind, place, problems = [], statusReason }: PendingLevel,
): void {
  const title = place === undefined ? 'account' : `${kind} ${place}`
  if (problems.length === 0) {
    const waits = `waits for its setup event: npx annex logs ${name}`
    terminal.say(`The ${title} ${statusReason === undefined ? waits : `is pending. ${statusReason}`}`)
    return
  }
  terminal.say(`The ${title} is pending and gets no events. Its settings are not complete:`)
  const named = problems.map(({ path, message }) => ({
    name: path.replace(/^\/configuration\/?/, ''),
    message,
  }))
  for (const { name: setting, message } of named) terminal.say(`  ${setting}: ${message}`)
  const properties = configurations[kind]?.properties ?? {}
  const callbackOf = (setting: string): string | undefined =>
    Object.hasOwn(properties, setting) ? properties[setting]?.callback_url : undefined
  const names = named.map(({ name: setting }) => setting)
  const of = place === undefined ? '' : ` --${kind} ${place}`
  const settable = names.filter((setting) => setting !== '' && callbackOf(setting) === undefined)
  if (settable.length > 0) {
    terminal.say(
      `npx annex configure ${name}${of}${settable.map((setting) => ` --set ${setting}=…`).join('')}`,
    )
  }
  for (const setting of names) {
    const callback = callbackOf(setting)
    if (callback !== undefined) terminal.say(`npx annex connect ${name}${of} ${setting}`)
  }
}
