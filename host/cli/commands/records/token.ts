import type { Command } from 'commander'
import { toPath } from '../../client.ts'
import { findOrganization } from '../../find-records.ts'
import { openSession } from '../../session.ts'
import { withExamples } from '../../with-examples.ts'

type Options = { org?: string; label?: string }

/** `annex token`: a token for the members of an organization, and their programs. */
export function addToken(program: Command): void {
  const command = program
    .command('token')
    .description('make a token of an organization')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--label <text>', 'what it is for')
    .action(async ({ org, label }: Options, command: Command) => {
      const session = openSession(command)
      const organization = await findOrganization(session, org)
      const answer = await session.api.post<{ token: string }>(
        toPath`/v1/orgs/${organization.id}/tokens`,
        label === undefined ? {} : { label },
      )
      if (session.terminal.json) return session.terminal.printJson(answer)
      session.terminal.print(answer.token)
      session.terminal.say(`A token of ${organization.subdomain}, shown only this once.`)
    })
  withExamples(command, [
    'annex token --label ci',
    'ANNEX_TOKEN=$(annex token --org home) annex installations',
  ])
}
