import type { Command } from 'commander'
import { withExamples } from '../../with-examples.ts'

/** `annex types`: the type of each integration's settings, from its manifest. Needs no server. */
export function addTypes(program: Command): void {
  const command = program
    .command('types')
    .description('write generated/integration.ts in plugin folders, from their manifests')
    .argument('[folder...]', 'plugin folders; without one, all in PLUGINS_DIR')
    .option('--check', 'write nothing; exit code 1 when a file is stale')
    .action(async (named: string[], options: { check?: boolean }, command: Command) => {
      // Loaded only here, as for `annex check`.
      const { writeFolderTypes } = await import('./write-folder-types.ts')
      await writeFolderTypes(named, options, command)
    })
  withExamples(command, ['annex types', 'annex types plugins/echo', 'annex types --check'])
}
