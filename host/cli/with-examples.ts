import type { Command } from 'commander'

/** Puts examples first in a command's help: most people read no further. */
export function withExamples(command: Command, examples: string[]): Command {
  return command.addHelpText('before', `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}\n`)
}
