import type { Command } from 'commander'
import { exitSoon } from '../../exit-soon.ts'
import { openTerminal } from '../../session.ts'
import { withExamples } from '../../with-examples.ts'

/** `annex demo`: the main job as a story, with a server and a receiver of its own. */
export function addDemo(program: Command): void {
  const command = program
    .command('demo')
    .description('tell the main job as a story: an event becomes a signed, retried webhook')
    .action(async (_options: object, command: Command) => {
      const { tellDemo } = await import('../../demo.ts')
      exitSoon(await tellDemo(openTerminal(command)))
    })
  withExamples(command, ['annex demo'])
}
