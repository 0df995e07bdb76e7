import { type Command, Option } from 'commander'
import { withExamples } from './with-examples.ts'
import type { NewOptions } from './write-plugin.ts'

/** `annex new`: a plugin folder that loads and answers as it is. Needs no server. */
export function addNew(program: Command): void {
  const command = program
    .command('new')
    .description('write a new plugin folder into PLUGINS_DIR; on a terminal it asks for what no flag says')
    .argument('<name>', 'name of the integration, and of its folder')
    .option('--title <text>', 'shown to users')
    .option('--description <text>', 'shown to users')
    .option('--organization <name>', 'its owner: id or subdomain (OPERATOR_ORGANIZATION)')
    .addOption(
      new Option('--visibility <who>', 'who may install it').choices(['private', 'unlisted', 'public']),
    )
    .option('--yes', 'ask nothing: take the default of what no flag says')
    .action(async (name: string, options: NewOptions, command: Command) => {
      // Loaded only here, as for `annex check`.
      const { newPlugin } = await import('./write-plugin.ts')
      await newPlugin(name, options, command)
    })
  withExamples(command, ['annex new page-stats', 'annex new page-stats --title "Page statistics" --yes'])
}
