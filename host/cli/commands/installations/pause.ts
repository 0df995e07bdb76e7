import type { Command } from 'commander'
import { toPath } from '../../client.ts'
import type { Installation, Integration } from '../../records.ts'
import { openSession, type Session } from '../../session.ts'
import { toStatus } from '../../terminal/table.ts'
import { UsageError } from '../../usage-error.ts'
import { withExamples } from '../../with-examples.ts'
import { findInstallation, type PlaceOptions } from './find-installation.ts'
import { levelPath } from './installed-level.ts'

/** `annex pause` and `annex resume`. */
export function addPauseAndResume(program: Command): void {
  const pause = program
    .command('pause')
    .description('stop an installation: its events wait for a resume, and its endpoint answers 503')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .action((named: string, options: PlaceOptions, command: Command) =>
      change(openSession(command), 'pause', named, options),
    )
  withExamples(pause, ['annex pause webhook'])

  const resume = program
    .command('resume')
    .description('let a paused or suspended installation go on; its events that waited are handled')
    .argument('[installation]', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .option('--integration <name>', 'instead: an integration that is suspended as a whole')
    .action(
      async (
        named: string | undefined,
        options: PlaceOptions & { integration?: string },
        command: Command,
      ) => {
        const session = openSession(command)
        const { integration, ...place } = options
        if (integration !== undefined && named === undefined) return resumeWhole(session, integration)
        if (integration === undefined && named !== undefined) return change(session, 'resume', named, place)
        throw new UsageError('Name an installation, or an integration with --integration.')
      },
    )
  withExamples(resume, ['annex resume webhook', 'annex resume --integration webhook'])
}

async function change(
  session: Session,
  verb: 'pause' | 'resume',
  named: string,
  options: PlaceOptions,
): Promise<void> {
  const { api, terminal } = session
  const found = await findInstallation(session, named, options)
  const changed = await api.post<Installation>(`${levelPath({ installation: found })}/${verb}`)
  if (terminal.json) return terminal.printJson(changed)
  terminal.print(`${changed.integration} ${changed.id} `, toStatus(changed.status))
}

async function resumeWhole({ api, terminal }: Session, integration: string): Promise<void> {
  const changed = await api.post<Integration>(toPath`/v1/integrations/${integration}/resume`)
  if (terminal.json) return terminal.printJson(changed)
  terminal.print(`${changed.name} `, toStatus('active'))
}
