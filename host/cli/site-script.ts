import type { Command } from 'commander'
import { findOrganization, findSiteOrSpace } from './find-records.ts'
import { collect, withExamples } from './options.ts'
import { openSession } from './session.ts'

type Options = {
  org?: string
  origin?: string[]
  origins?: boolean
  cookie?: string[]
  cookies?: boolean
  newKey?: true
}

/** Adds `script` to the commands of sites. */
export function addSiteScript(sites: Command): void {
  const command = sites
    .command('script')
    .description('show or change the script that sends views of a site: its HTML, origins and cookies')
    .argument('[site]', 'id, slug or external id')
    .option('--org <name>', 'organization: id or subdomain')
    .option(
      '--origin <url>',
      'origin of the pages: https://docs.example.com; replaces all; repeatable',
      collect,
    )
    .option('--no-origins', 'remove the origins: no page sends views')
    .option('--cookie <name>', 'cookie that a view has; replaces all; repeatable', collect)
    .option('--no-cookies', 'remove the cookies: a view has none')
    .option('--new-key', 'make a new public key; pages with the old one send no views')
    .action(script)
  withExamples(command, [
    'annex sites script sample',
    'annex sites script sample --origin https://docs.example.com',
    'annex sites script sample --cookie consent',
  ])
}

async function script(named: string | undefined, options: Options, command: Command): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const organization = await findOrganization(session, options.org)
  const { id } = await findSiteOrSpace(session, organization, 'site', named)
  const origins = options.origins === false ? [] : options.origin
  const cookies = options.cookies === false ? [] : options.cookie
  const edit = {
    ...(origins && { origins }),
    ...(cookies && { cookies }),
    ...(options.newKey && { newKey: true }),
  }
  const params = { org: organization.id, site: id }
  const isEdit = Object.keys(edit).length > 0
  const shown = isEdit
    ? await api.call('PUT /v1/orgs/{org}/sites/{site}/script', { params, body: edit })
    : await api.call('GET /v1/orgs/{org}/sites/{site}/script', { params })
  if (terminal.json) return terminal.printJson(shown)
  terminal.print(shown.html)
  for (const urlOrigin of shown.origins) terminal.print(`origin ${urlOrigin}`)
  for (const cookie of shown.cookies) terminal.print(`cookie ${cookie}`)
  if (shown.origins.length === 0)
    terminal.say('The site has no origins, so no page sends views. Name one with --origin.')
}
