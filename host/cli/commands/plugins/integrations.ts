import type { Command } from 'commander'
import type { Integration, List } from '../../records.ts'
import { openSession } from '../../session.ts'
import { printTable } from '../../terminal/table.ts'
import { withExamples } from '../../with-examples.ts'

/** `annex integrations`: what can be installed. */
export function addIntegrations(program: Command): void {
  const command = program
    .command('integrations')
    .description('list the integrations that the token may install or owns')
    .action(async (_options: object, command: Command) => {
      const { terminal, api } = openSession(command)
      const answer = await api.get<List<Integration>>('/v1/integrations')
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
          `${name} is suspended as a whole. ${suspension.reason} \`annex resume --integration ${name}\``,
        )
      }
    })
  withExamples(command, ['annex integrations', 'annex integrations --json'])
}
