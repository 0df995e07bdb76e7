import { type Command, Option } from 'commander'
import type { OrganizationChange } from '../../schemas/generated/api/organizations.ts'
import type { SiteChange } from '../../schemas/generated/api/sites.ts'
import type { SpaceChange } from '../../schemas/generated/api/spaces.ts'
import { collect, UsageError, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { confirm } from './terminal.ts'

export type RecordKind = 'organization' | 'site' | 'space'

type Change = OrganizationChange & SiteChange & SpaceChange

type Found = {
  id: string
  change: (change: Change) => Promise<{ id: string }>
  remove: () => Promise<{ deleted: Record<string, number> }>
}
/** Finds a record by an id or name, with the operations that change and delete it. */
type Find = (session: Session, name: string, org: string | undefined) => Promise<Found>

type ChangeOptions = Omit<Change, 'url' | 'externalIds'> & {
  org?: string
  publishedAt?: string | false
  externalId?: string[]
  externalIds?: boolean
}

const visibilities = ['private', 'unlisted', 'share-link', 'visitor-auth', 'public']

/** `--external-id`, for commands that make or change a record. */
export const createExternalIdOption = (): Option =>
  new Option('--external-id <id>', 'id of the record on another platform; may be repeated').argParser(collect)

export const createVisibilityOption = (): Option =>
  new Option('--visibility <level>', 'who may read it').choices(visibilities)

/** `url` of a site or space. `--url` is the address of Annex. */
export const createAddressOption = (): Option =>
  new Option('--published-at <address>', 'where visitors read it')

/** Adds `change` and `delete` to the commands of a kind of record. */
export function addChangeAndDelete(records: Command, kind: RecordKind, find: Find): void {
  const name = kind === 'organization' ? 'subdomain' : 'slug'
  const change = records
    .command('change')
    .description(
      kind === 'organization'
        ? 'change the title, subdomain or external ids of an organization'
        : `change the title, slug, address or external ids of a ${kind}`,
    )
    .argument(`<${kind}>`, `id, ${name} or external id`)
    .option('--title <text>', 'name for people')
    .option(`--${name} <name>`, 'name in addresses')
    .addOption(createExternalIdOption())
    .option('--no-external-ids', 'remove the external ids')
    .action(async (named: string, options: ChangeOptions, command: Command) => {
      const { org, externalId, externalIds, publishedAt, ...fields } = options
      const ids = externalIds === false ? [] : externalId
      const body: Change = {
        ...fields,
        ...(ids !== undefined && { externalIds: ids }),
        ...(publishedAt !== undefined && { url: publishedAt === false ? null : publishedAt }),
      }
      if (Object.keys(body).length === 0)
        throw new UsageError('Nothing is to be changed. Try it with --help.')
      const session = openSession(command)
      const changed = await (await find(session, named, org)).change(body)
      if (session.terminal.json) session.terminal.printJson(changed)
      else session.terminal.print(`${changed.id} is changed.`)
    })
  const remove = records
    .command('delete')
    .description(`delete ${kind === 'organization' ? 'an' : 'a'} ${kind} that has no installations`)
    .argument(`<${kind}>`, `id, ${name} or external id`)
    .option('--yes', 'do not ask')
    .action(async (named: string, { org, yes }: { org?: string; yes?: boolean }, command: Command) => {
      const session = openSession(command)
      const found = await find(session, named, org)
      const isConfirmed = yes || (await confirm(session.terminal, `Delete ${found.id}?`))
      if (isConfirmed === undefined) throw new UsageError('There is no terminal to ask on: --yes deletes it.')
      if (!isConfirmed) return
      const answer = await found.remove()
      if (session.terminal.json) return session.terminal.printJson(answer)
      const taken = Object.entries(answer.deleted).filter(([, count]) => count > 0)
      const list = taken.map(([what, count]) => `${count} ${what}`).join(', ')
      session.terminal.print(`${found.id} is deleted${list === '' ? '' : `, with ${list}`}.`)
    })
  if (kind !== 'organization') {
    for (const one of [change, remove]) one.option('--org <name>', 'organization: id or subdomain')
    change.addOption(createVisibilityOption()).addOption(createAddressOption())
    change.option('--no-published-at', 'remove that address')
  }
  const command = `annex ${records.name()}`
  withExamples(change, [`${command} change docs --title Documentation --external-id abc123`])
  withExamples(remove, [`${command} delete docs`])
}
