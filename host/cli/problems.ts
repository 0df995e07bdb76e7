import type { Command } from 'commander'
import type { ProblemFix } from '../../schemas/generated/api/problems.ts'
import { exitCodes } from './exit.ts'
import { withExamples } from './options.ts'
import { openSession } from './session.ts'
import { paint } from './terminal.ts'

const toLine = ({ text, command }: ProblemFix): string =>
  command === null ? text : `${text.replace(/\.$/, '')}: ${command}`

export function addProblems(program: Command): void {
  const command = program
    .command('problems')
    .description('list what does not work, since when, and how to repair it; exit code 1 for a problem')
    .action(async (_options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const answer = await api.call('GET /v1/problems')
      if (answer.count > 0) terminal.setExitCode(exitCodes.failed)
      if (terminal.json) return terminal.printJson(answer)
      if (answer.count === 0) return terminal.say('There is no problem.')
      for (const { sentence, organizationSubdomain, since, fix } of answer.items) {
        terminal.print(paint('red', '● '), terminal.toPasteable(sentence))
        terminal.print(
          `  ${organizationSubdomain === null ? '' : `organization ${organizationSubdomain}, `}since ${since}`,
        )
        terminal.print(`  ${terminal.toPasteable(toLine(fix))}`)
      }
    })
  withExamples(command, ['annex problems', 'annex problems --json'])
}
