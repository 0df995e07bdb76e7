import { type Command, Option } from 'commander'
import type { Client } from '../../schemas/client.ts'
import type { Category } from '../../schemas/generated/api/integrations.ts'
import type { Problem } from '../manifest/problem.ts'
import { readAll } from './client.ts'
import { exitCodes } from './exit.ts'
import { findOrganization } from './find-records.ts'
import { withExamples } from './options.ts'
import { openSession } from './session.ts'
import { printProblems, printTable, type Terminal, toSafeLine, toStatus } from './terminal.ts'
import type { NewOptions } from './write-plugin.ts'

// Checking and writing plugin folders load the bundler and the schemas. Other commands start faster without them.

export function addNew(program: Command): void {
  const command = program
    .command('new')
    .description(
      'write a new plugin folder into PLUGINS_DIR; without flags, ask for the fields on a terminal',
    )
    .argument('<name>', 'name of the integration, and of its folder')
    .option('--title <text>', 'title for users')
    .option('--description <text>', 'description for users')
    .option('--organization <name>', 'organization that owns it: id or subdomain (OPERATOR_ORGANIZATION)')
    .addOption(
      new Option('--visibility <level>', 'organizations that may install it').choices([
        'private',
        'unlisted',
        'public',
      ]),
    )
    .option('--yes', 'ask nothing: missing flags take their defaults')
    .action(async (name: string, options: NewOptions, command: Command) => {
      const { newPlugin } = await import('./write-plugin.ts')
      await newPlugin(name, options, command)
    })
  withExamples(command, ['annex new page-stats', 'annex new page-stats --title "Page statistics" --yes'])
}

export function addCheck(program: Command): void {
  const command = program
    .command('check')
    .description(
      'check plugin folders: read manifests, bundle scripts and load each once; exit code 3 for an error',
    )
    .argument('[folder...]', 'plugin folders; default: all in PLUGINS_DIR')
    .option('--against <version>', 'also say whether organizations with that version have to agree')
    .action(async (named: string[], options: { against?: string }, command: Command) => {
      const { checkFolders } = await import('./check-plugins.ts')
      await checkFolders(named, options, command)
    })
  withExamples(command, [
    'annex check',
    'annex check plugins/echo --json',
    'annex check plugins/echo --against 3',
  ])
}

export function addTypes(program: Command): void {
  const command = program
    .command('types')
    .description('write generated/integration.ts of plugin folders from their manifests')
    .argument('[folder...]', 'plugin folders; default: all in PLUGINS_DIR')
    .option('--check', 'write nothing; exit code 1 when a file is stale')
    .action(async (named: string[], options: { check?: boolean }, command: Command) => {
      const { writeFolderTypes } = await import('./write-plugin.ts')
      await writeFolderTypes(named, options, command)
    })
  withExamples(command, ['annex types', 'annex types plugins/echo', 'annex types --check'])
}

/** The server checks the category. */
type ListOptions = { search?: string; category?: Category; installed?: boolean; org?: string }

export function addIntegrations(program: Command): void {
  const command = program
    .command('integrations')
    .description('list the integrations that the token’s organizations own or may install')
    .option('--search <text>', 'only those with this text in their name, title or description')
    .option('--category <name>', 'only those of this category')
    .option('--installed', 'only those that are installed in the organization')
    .option('--no-installed', 'only those that are not installed there')
    .option('--org <name>', 'organization: id or subdomain')
    .action(async (options: ListOptions, command: Command) => {
      const session = openSession(command)
      const { terminal, api } = session
      const { search, category, installed, org } = options
      const isPlain = installed === undefined && org === undefined
      const organization = isPlain ? undefined : (await findOrganization(session, org)).id
      const query = { q: search, category, installed, organization }
      const answer = await readAll(api.all('GET /v1/integrations', { query }))
      if (terminal.json) return terminal.printJson(answer)
      const rows = answer.items.map(({ name, version, visibility, scopes }) => [
        name,
        version === null ? 'none' : `${version.number} ${version.digest.slice(0, 12)}`,
        visibility,
        scopes.join(' '),
      ])
      printTable(terminal, ['integration', 'version', 'visibility', 'scopes'], rows)
      for (const { name, suspension } of answer.items) {
        if (suspension === undefined) continue
        terminal.say(
          `${name} is suspended as a whole. ${suspension.reason} \`npx annex resume --integration ${name}\``,
        )
      }
    })
  withExamples(command, ['annex integrations --search webhook', 'annex integrations --installed --json'])
}

export function addReload(program: Command): void {
  const command = program
    .command('reload')
    .description('reload plugin folders and spaces; exit code 3 when a folder has errors')
    .action(reload)
  withExamples(command, ['annex reload', 'annex reload --json'])
}

export function addPrune(program: Command): void {
  const command = program
    .command('prune')
    .description('remove integrations whose folder is gone, with their versions')
    .option('--installations', 'also those that are installed, with installations and settings')
    .option('--dry-run', 'only list them')
    .action(async (options: { installations?: true; dryRun?: true }, command: Command) => {
      const { api, terminal } = openSession(command)
      const answer = await api.call('POST /v1/prune', { body: options })
      if (terminal.json) return terminal.printJson(answer)
      for (const { name, installations } of answer.items)
        terminal.print(`${name}, installations: ${installations}`)
      terminal.say(options.dryRun ? 'Nothing was removed.' : `Removed ${answer.count}.`)
      if (!options.installations)
        terminal.say('Integrations with installations stay: `--installations` removes them, too.')
    })
  withExamples(command, ['annex prune --dry-run', 'annex prune --installations'])
}

const reportEveryMs = 10_000

/** Says that a load is under way. Why a request fails, the command itself reports. */
async function sayLoading(api: Client, terminal: Terminal): Promise<void> {
  const load = await api.call('GET /v1/reload').catch(() => undefined)
  if (load?.running !== true) return
  const now =
    load.folders.length === 0 ? '' : `, now ${load.folders.map((name) => toSafeLine(name)).join(', ')}`
  terminal.say(`Still loading: ${load.loaded} of ${load.total} plugin folders are loaded${now}.`)
}

async function reload(_options: object, command: Command): Promise<void> {
  const { terminal, api } = openSession(command)
  const reporting = setInterval(() => void sayLoading(api, terminal), reportEveryMs)
  const answer = await api.long.call('POST /v1/reload').finally(() => clearInterval(reporting))
  if (terminal.json) terminal.printJson(answer)
  else {
    const rows = answer.items.map((plugin) => [
      plugin.name ?? plugin.folder,
      toStatus(plugin.state),
      plugin.version === undefined ? '' : `version ${plugin.version.number}`,
      plugin.scopes.join(' '),
    ])
    printTable(terminal, ['integration', 'state', 'version', 'scopes'], rows)
    for (const { note } of answer.items) if (note !== undefined) terminal.say(note)
    const problems = answer.items.flatMap((plugin) => plugin.problems as Problem[])
    if (problems.length > 0) terminal.print()
    printProblems(terminal, problems)
  }
  if (answer.items.some(({ state }) => state === 'failed')) terminal.setExitCode(exitCodes.invalid)
}
