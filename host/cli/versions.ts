import { type Command, InvalidArgumentError } from 'commander'
import type { Permission, Version, VersionDifference } from '../../schemas/generated/api/versions.ts'
import { readAll } from './client.ts'
import { findInstallation, type LevelOptions, paramsOf } from './find-records.ts'
import { askToAgree, toAgreement } from './install.ts'
import { UsageError, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { confirm, paint, printTable, type Terminal } from './terminal.ts'

export function addVersions(program: Command): void {
  const versions = program
    .command('versions')
    .description('list the stored versions of an integration')
    .argument('<integration>', 'name of the integration')
    .action(listVersions)
  withExamples(versions, ['annex versions webhook'])

  const diff = program
    .command('diff')
    .description('show what a version asks for beside an older one')
    .argument('<integration>', 'name of the integration')
    .argument('[version]', 'number of the newer version; default: the deployed one', toNumber)
    .option('--from <version>', 'number of the older version; default: the one before', toNumber)
    .action(showDifference)
  withExamples(diff, ['annex diff webhook', 'annex diff webhook 4 --from 2'])

  const agree = program
    .command('agree')
    .description('agree to the version that waits for your organization')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--yes', 'ask nothing')
    .action(agreeToWaiting)
  withExamples(agree, ['annex agree webhook'])

  const rollback = program
    .command('rollback')
    .description('deploy an older version and pin it: a reload does not replace it')
    .argument('<integration>', 'name of the integration')
    .argument('[version]', 'number of the version; default: the one before', toNumber)
    .option('--yes', 'ask nothing')
    .action(rollBack)
  withExamples(rollback, ['annex rollback webhook', 'annex rollback webhook 3 --yes'])

  const unpin = program
    .command('unpin')
    .description('end a rollback: deploy the version of the folder again')
    .argument('<integration>', 'name of the integration')
    .action(async (name: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const params = { integration: name }
      const version = await api.call('POST /v1/integrations/{integration}/unpin', { params })
      printDeployed(terminal, name, version)
    })
  withExamples(unpin, ['annex unpin webhook'])
}

async function listVersions(name: string, _options: object, command: Command): Promise<void> {
  const { api, terminal } = openSession(command)
  const params = { integration: name }
  const answer = await readAll(api.all('GET /v1/integrations/{integration}/versions', { params }))
  if (terminal.json) return terminal.printJson(answer)
  const rows = answer.items.map(({ number, state, pinned, digest, createdAt, permissions }) => [
    String(number),
    pinned ? 'pinned' : state,
    digest.slice(0, 12),
    createdAt,
    permissions.flatMap((one) => (one.kind === 'scope' ? [one.name] : [])).join(' '),
  ])
  printTable(terminal, ['version', 'state', 'digest', 'created', 'scopes'], rows)
}

async function showDifference(
  name: string,
  number: number | undefined,
  { from }: { from?: number },
  command: Command,
): Promise<void> {
  const { api, terminal } = openSession(command)
  const params = { integration: name }
  const { items } = await readAll(api.all('GET /v1/integrations/{integration}/versions', { params }))
  const newest = items.find(({ state }) => state === 'deployed') ?? items[0]
  const version = String(number ?? newest?.number ?? 1)
  const difference = await api.call('GET /v1/integrations/{integration}/versions/{version}/diff', {
    params: { ...params, version },
    query: { from },
  })
  if (terminal.json) return terminal.printJson(difference)
  printDifference(terminal, difference)
}

function printDifference(terminal: Terminal, difference: VersionDifference): void {
  const { from, to, added, removed, settings, needsAgreement, waiting = 0 } = difference
  terminal.print(`version ${from} → ${to}`)
  for (const { sentence } of added) terminal.print(paint('green', '+ '), sentence)
  for (const { sentence } of removed) terminal.print(paint('red', '- '), sentence)
  for (const setting of settings.added) terminal.print(paint('green', '+ '), `setting ${setting}`)
  for (const setting of settings.removed) terminal.print(paint('red', '- '), `setting ${setting}`)
  terminal.say(
    needsAgreement
      ? `Organizations with version ${from} go on with it until an admin agrees: npx annex agree`
      : 'No organization has to agree.',
  )
  if (waiting > 0) {
    const text = waiting === 1 ? '1 organization has' : `${waiting} organizations have`
    terminal.print(`${text} not agreed to version ${to}. Outside of installations it does not reach them.`)
  }
}

async function agreeToWaiting(
  named: string,
  options: LevelOptions & { yes?: true },
  command: Command,
): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const params = paramsOf({ installation })
  const agreement = await api.call(
    'GET /v1/integrations/{integration}/installations/{installation}/agreement',
    { params },
  )
  const { waiting, version } = agreement
  if (waiting === null) {
    if (terminal.json) return terminal.printJson(agreement)
    return terminal.say(`${installation.integration} runs version ${version}. None waits.`)
  }
  const integration = await api.call('GET /v1/integrations/{integration}', { params })
  if (options.yes) printPermissions(terminal, waiting.permissions)
  else {
    const command = `npx annex agree ${installation.id} --yes`
    await askToAgree(terminal, toQuestion(installation.integration, waiting), command)
  }
  const body = { ...toAgreement(integration), version: waiting.version }
  const agreed = await api.call(
    'POST /v1/integrations/{integration}/installations/{installation}/agreement',
    { params, body },
  )
  if (terminal.json) return terminal.printJson(agreed)
  terminal.print(`${installation.integration} ${installation.id} runs version ${agreed.version}`)
}

function toQuestion(integration: string, waiting: { version: number; permissions: Permission[] }): string {
  const sentences = waiting.permissions.map(({ sentence }) => `  ${sentence}`).join('\n')
  return `Version ${waiting.version} of ${integration} also asks for:\n${sentences}`
}

function printPermissions(terminal: Terminal, permissions: Permission[]): void {
  for (const { sentence } of permissions) terminal.say(paint('green', '+ '), sentence)
}

async function rollBack(
  name: string,
  number: number | undefined,
  options: { yes?: true },
  command: Command,
): Promise<void> {
  const session: Session = openSession(command)
  const { api, terminal } = session
  const which = number === undefined ? 'the version before' : `version ${number}`
  const isSure = options.yes ?? (await confirm(terminal, `Deploy ${which} of ${name} and pin it?`))
  if (isSure === undefined) throw new UsageError('Without a terminal, say --yes.')
  if (!isSure) return terminal.say('Nothing was changed.')
  const body = number === undefined ? {} : { version: number }
  const params = { integration: name }
  const version = await api.call('POST /v1/integrations/{integration}/rollback', { params, body })
  printDeployed(terminal, name, version)
}

function printDeployed(terminal: Terminal, name: string, version: Version): void {
  if (terminal.json) return terminal.printJson(version)
  terminal.print(`${name} runs version ${version.number}${version.pinned ? ', pinned' : ''}`)
  if (version.pinned) terminal.say(`A reload does not replace it. npx annex unpin ${name} ends this.`)
}

function toNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be the number of a version: npx annex versions NAME lists them.')
}
