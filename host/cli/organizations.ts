import { resolve } from 'node:path'
import type { Command } from 'commander'
import { toPath } from './client.ts'
import { findOrganization } from './find-records.ts'
import type { List, Organization, Place } from './records.ts'
import { openSession, type Session } from './session.ts'
import { printTable } from './terminal/table.ts'
import { withExamples } from './with-examples.ts'

type Options = { org?: string; title?: string; folder?: string }

/** `annex orgs`, `annex sites` and `annex spaces`: each lists, and `create` makes one. */
export function addPlaces(program: Command): void {
  addOrganizations(program)
  for (const kind of ['site', 'space'] as const) addKind(program, kind)
}

function addOrganizations(program: Command): void {
  const orgs = program.command('orgs').description('list and make organizations')
  orgs
    .command('list', { isDefault: true })
    .description('list organizations')
    .action(async (_options: object, command: Command) => {
      const session = openSession(command)
      const answer = await session.api.get<List<Organization>>('/v1/orgs')
      const rows = answer.items.map(({ id, subdomain, title }) => [id, subdomain, title])
      printAnswer(session, answer, ['organization', 'subdomain', 'title'], rows)
    })
  const create = orgs
    .command('create')
    .description('make an organization')
    .argument('<subdomain>', 'its name in addresses and manifests')
    .option('--title <text>', 'its name for people')
    .action(async (subdomain: string, { title = subdomain }: Options, command: Command) => {
      const session = openSession(command)
      printMade(session, await session.api.post<Organization>('/v1/orgs', { subdomain, title }))
    })
  withExamples(create, ['annex orgs create acme --title "Acme Inc."'])
}

function addKind(program: Command, kind: 'site' | 'space'): void {
  const places = program.command(`${kind}s`).description(`list and make ${kind}s`)
  places
    .command('list', { isDefault: true })
    .description(`list the ${kind}s of an organization`)
    .option('--org <name>', 'organization: id or subdomain')
    .action(async ({ org }: Options, command: Command) => {
      const session = openSession(command)
      const path = await pathOf(session, kind, org)
      const answer = await session.api.get<List<Place>>(path)
      const rows = answer.items.map(({ id, slug, title }) => [id, slug, title])
      printAnswer(session, answer, [kind, 'slug', 'title'], rows)
    })
  const create = places
    .command('create')
    .description(kind === 'space' ? 'make a space from a folder of Markdown' : 'make a site')
    .argument('<slug>', 'its name in addresses')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--title <text>', 'its name for people')
    .action(async (slug: string, { org, title = slug, folder }: Options, command: Command) => {
      const session = openSession(command)
      // The host would take a relative path from where it was started, not from here.
      const body = { slug, title, ...(folder !== undefined && { folder: resolve(folder) }) }
      printMade(session, await session.api.post<Place>(await pathOf(session, kind, org), body))
    })
  if (kind === 'space') {
    create.requiredOption('--folder <path>', 'folder of Markdown on the machine that runs Annex')
  }
  const more = kind === 'space' ? ' --folder ./docs' : ''
  withExamples(create, [`annex ${kind}s create docs --title Documentation${more}`])
}

async function pathOf(session: Session, kind: 'site' | 'space', org?: string): Promise<string> {
  return `${toPath`/v1/orgs/${(await findOrganization(session, org)).id}`}/${kind}s`
}

function printAnswer({ terminal }: Session, answer: object, heads: string[], rows: string[][]): void {
  if (terminal.json) terminal.printJson(answer)
  else printTable(terminal, heads, rows)
}

function printMade({ terminal }: Session, made: { id: string }): void {
  if (terminal.json) terminal.printJson(made)
  else terminal.print(made.id)
}
