import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Visibility } from '../../schemas/generated/api/common.ts'
import {
  addChangeAndDelete,
  createAddressOption,
  createExternalIdOption,
  createVisibilityOption,
} from './change-records.ts'
import { readAll } from './client.ts'
import { findOrganization, findSiteOrSpace, listSitesOrSpaces } from './find-records.ts'
import { withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { addSiteScript } from './site-script.ts'
import { printTable } from './terminal.ts'

type Options = {
  org?: string
  title?: string
  folder?: string
  visibility?: Visibility
  publishedAt?: string
  externalId?: string[]
}

export function addOrganizations(program: Command): void {
  const orgs = program.command('orgs').description('list, create, change and delete organizations')
  orgs
    .command('list', { isDefault: true })
    .description('list organizations')
    .action(async (_options: object, command: Command) => {
      const session = openSession(command)
      const answer = await readAll(session.api.all('GET /v1/orgs'))
      const rows = answer.items.map(({ id, subdomain, title }) => [id, subdomain, title])
      printAnswer(session, answer, ['organization', 'subdomain', 'title'], rows)
    })
  const create = orgs
    .command('create')
    .description('create an organization')
    .argument('<subdomain>', 'name in addresses and manifests')
    .option('--title <text>', 'name for people')
    .addOption(createExternalIdOption())
    .action(async (subdomain: string, options: Options, command: Command) => {
      const { title = subdomain, externalId: externalIds } = options
      const session = openSession(command)
      const body = { subdomain, title, ...(externalIds && { externalIds }) }
      printCreated(session, await session.api.call('POST /v1/orgs', { body }))
    })
  withExamples(create, ['annex orgs create acme --title "Acme Inc."'])
  addChangeAndDelete(orgs, 'organization', async (session, name) => {
    const { id } = await findOrganization(session, name)
    const params = { org: id }
    return {
      id,
      change: (body) => session.api.call('PATCH /v1/orgs/{org}', { params, body }),
      remove: () => session.api.call('DELETE /v1/orgs/{org}', { params }),
    }
  })
}

/** `annex sites` and `annex spaces`. */
export function addSitesOrSpaces(program: Command, kind: 'site' | 'space'): void {
  const command = program.command(`${kind}s`).description(`list, create, change and delete ${kind}s`)
  command
    .command('list', { isDefault: true })
    .description(`list the ${kind}s of an organization`)
    .option('--org <name>', 'organization: id or subdomain')
    .action(async ({ org }: Options, command: Command) => {
      const session = openSession(command)
      const { id: inOrganization } = await findOrganization(session, org)
      const answer = await readAll(listSitesOrSpaces(session.api, kind, inOrganization))
      const rows = answer.items.map(({ id, slug, title }) => [id, slug, title])
      printAnswer(session, answer, [kind, 'slug', 'title'], rows)
    })
  const create = command
    .command('create')
    .description(kind === 'space' ? 'create a space, from a folder of Markdown or empty' : 'create a site')
    .argument('<slug>', 'name in addresses')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--title <text>', 'name for people')
    .addOption(createVisibilityOption())
    .addOption(createAddressOption())
    .addOption(createExternalIdOption())
    .action(async (slug: string, options: Options, command: Command) => {
      const { org, title = slug, folder, visibility, publishedAt: url, externalId: externalIds } = options
      const session = openSession(command)
      const body = {
        ...{ slug, title },
        // The host may run in another folder, so it gets an absolute path.
        ...(folder !== undefined && { folder: resolve(folder) }),
        ...(visibility !== undefined && { visibility }),
        ...(url !== undefined && { url }),
        ...(externalIds !== undefined && { externalIds }),
      }
      const params = { org: (await findOrganization(session, org)).id }
      const created =
        kind === 'site'
          ? await session.api.call('POST /v1/orgs/{org}/sites', { params, body })
          : await session.api.call('POST /v1/orgs/{org}/spaces', { params, body })
      printCreated(session, created)
    })
  if (kind === 'space') {
    create.option('--folder <path>', 'folder of Markdown on the machine that runs Annex')
  }
  if (kind === 'site') addSiteScript(command)
  addChangeAndDelete(command, kind, async (session, name, org) => {
    const organization = await findOrganization(session, org)
    const { id } = await findSiteOrSpace(session, organization, kind, name)
    const { api } = session
    if (kind === 'space') {
      const params = { space: id }
      return {
        id,
        change: (body) => api.call('PATCH /v1/spaces/{space}', { params, body }),
        remove: () => api.call('DELETE /v1/spaces/{space}', { params }),
      }
    }
    const params = { org: organization.id, site: id }
    return {
      id,
      change: (body) => api.call('PATCH /v1/orgs/{org}/sites/{site}', { params, body }),
      remove: () => api.call('DELETE /v1/orgs/{org}/sites/{site}', { params }),
    }
  })
  const more = kind === 'space' ? ' --folder ./docs' : ''
  withExamples(create, [`annex ${kind}s create docs --title Documentation${more}`])
}

function printAnswer({ terminal }: Session, answer: object, heads: string[], rows: string[][]): void {
  if (terminal.json) terminal.printJson(answer)
  else printTable(terminal, heads, rows)
}

function printCreated({ terminal }: Session, created: { id: string }): void {
  if (terminal.json) terminal.printJson(created)
  else terminal.print(created.id)
}

export function addSetup(program: Command): void {
  const command = program
    .command('setup')
    .description('exchange the one-time setup token of the first start for an operator’s token')
    .argument('<setup-token>', 'setup token that the first start printed')
    .action(async (setupToken: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const answer = await api.call('POST /v1/setup', { body: { token: setupToken } })
      if (terminal.json) return terminal.printJson(answer)
      terminal.print(answer.token)
      terminal.say('Keep this operator’s token: it is shown only once. Set ANNEX_TOKEN to use it.')
    })
  withExamples(command, ['annex setup annex_setup_…', 'ANNEX_TOKEN=$(annex setup annex_setup_…)'])
}
