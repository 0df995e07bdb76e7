import type { Command } from 'commander'
import { findInstallation, type LevelOptions, paramsOf } from './find-records.ts'
import { withExamples } from './options.ts'
import { openSession } from './session.ts'
import { printTable } from './terminal.ts'

export function addStorage(program: Command): void {
  const command = program
    .command('storage')
    .description('show how much a script stores for each level; values are never shown')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .action(showStorage)
  withExamples(command, ['annex storage handbook-stats', 'annex storage handbook-stats --json'])
}

async function showStorage(named: string, options: LevelOptions, command: Command): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const answer = await api.call('GET /v1/integrations/{integration}/installations/{installation}/storage', {
    params: paramsOf({ installation }),
  })
  if (terminal.json) return terminal.printJson(answer)
  const rows = answer.items.map(({ level, site, space, keys, bytes }) => [
    level === 'installation' ? 'account' : `${level} ${site ?? space}`,
    String(keys),
    String(bytes),
  ])
  printTable(terminal, ['level', 'keys', 'bytes'], rows)
}
