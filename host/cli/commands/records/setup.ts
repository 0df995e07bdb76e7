import type { Command } from 'commander'
import { openSession } from '../../session.ts'
import { withExamples } from '../../with-examples.ts'

/** `annex setup`: the one-time token of the first start becomes an operator's token. */
export function addSetup(program: Command): void {
  const command = program
    .command('setup')
    .description('turn the one-time setup token of the first start into an operator’s token')
    .argument('<setup-token>', 'as the first start printed it')
    .action(async (setupToken: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const answer = await api.post<{ token: string }>('/v1/setup', { token: setupToken })
      if (terminal.json) return terminal.printJson(answer)
      terminal.print(answer.token)
      terminal.say('This is an operator’s token, shown only this once. Keep it; ANNEX_TOKEN takes it.')
    })
  withExamples(command, ['annex setup annex_setup_…', 'ANNEX_TOKEN=$(annex setup annex_setup_…)'])
}
