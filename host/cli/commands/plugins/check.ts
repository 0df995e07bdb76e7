import type { Command } from 'commander'
import { withExamples } from '../../with-examples.ts'

/** `annex check`: what is wrong with manifests, and with bundling scripts. Needs no server. */
export function addCheck(program: Command): void {
  const command = program
    .command('check')
    .description(
      'read the manifests of plugin folders, bundle the scripts and load each once; exit code 3 when there is an error',
    )
    .argument('[folder...]', 'plugin folders; without one, all in PLUGINS_DIR')
    .action(async (named: string[], _options: object, command: Command) => {
      // Loaded only here: the other commands start faster without the bundler and the schemas.
      const { checkFolders } = await import('../../check-plugins.ts')
      await checkFolders(named, command)
    })
  withExamples(command, ['annex check', 'annex check plugins/echo --json'])
}
