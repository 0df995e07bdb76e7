import type { Command } from 'commander'
import type { Installation } from '../../api/records.ts'
import { openSession } from '../../open-session.ts'
import { toStatus } from '../../terminal/table.ts'
import { withExamples } from '../../with-examples.ts'
import { findInstallation, type PlaceOptions } from './find-installation.ts'
import { levelPath } from './installed-level.ts'

const descriptions = {
  pause: 'stop an installation: no events, and its endpoint answers 503',
  resume: 'let a paused installation go on',
} as const

/** `annex pause` and `annex resume`. */
export function addPauseAndResume(program: Command): void {
  for (const verb of ['pause', 'resume'] as const) {
    const command = program
      .command(verb)
      .description(descriptions[verb])
      .argument('<installation>', 'id of the installation, or name of the integration')
      .option('--org <name>', 'organization: id or subdomain')
      .action(async (named: string, options: PlaceOptions, command: Command) => {
        const session = openSession(command)
        const found = await findInstallation(session, named, options)
        const changed = await session.api.post<Installation>(`${levelPath({ installation: found })}/${verb}`)
        if (session.terminal.json) return session.terminal.printJson(changed)
        session.terminal.print(`${changed.integration} ${changed.id} `, toStatus(changed.status))
      })
    withExamples(command, [`annex ${verb} webhook`])
  }
}
