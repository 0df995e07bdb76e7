import type { Command } from 'commander'
import { readAll } from './client.ts'
import { withExamples } from './options.ts'
import { openSession } from './session.ts'
import { printTable } from './terminal.ts'

/** `annex install-links`: the links by which other organizations install an unlisted integration. */
export function addInstallLinks(program: Command): void {
  const links = program
    .command('install-links')
    .description('list, make and revoke the install links of an unlisted integration')
  withExamples(links, [
    'annex install-links new my-integration --label acme',
    'annex install-links list my-integration',
    'annex install-links revoke my-integration lnk_0199…',
  ])
  const named = (command: Command) => command.argument('<integration>', 'name of the integration')
  named(links.command('list', { isDefault: true }))
    .description('list the links, without their keys, the newest first')
    .action(async (name: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const params = { integration: name }
      const answer = await readAll(api.all('GET /v1/integrations/{integration}/install-links', { params }))
      if (terminal.json) return terminal.printJson(answer)
      const rows = answer.items.map(({ id, createdAt, label }) => [id, createdAt, label])
      printTable(terminal, ['link', 'made', 'label'], rows)
    })
  named(links.command('new'))
    .description('make a link; it is shown only once')
    .option('--label <text>', 'for whom the link is')
    .action(async (name: string, options: { label?: string }, command: Command) => {
      const { api, terminal } = openSession(command)
      const params = { integration: name }
      const answer = await api.call('POST /v1/integrations/{integration}/install-links', {
        params,
        body: options,
      })
      if (terminal.json) return terminal.printJson(answer)
      terminal.print(answer.app)
      terminal.say(`Hand this link on: it is shown only once. Its holder installs ${name} there, or with:`)
      terminal.say(`npx annex install ${name} --install-key ${answer.installKey}`)
    })
  named(links.command('revoke'))
    .description('revoke a link: it stops at once, and installations stay')
    .argument('<id>', `id of the link: ${program.name()} install-links list`)
    .action(async (name: string, id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const params = { integration: name, link: id }
      await api.call('DELETE /v1/integrations/{integration}/install-links/{link}', { params })
      if (terminal.json) return terminal.printJson({ id, revoked: true })
      terminal.print(`${id} is revoked.`)
    })
}
