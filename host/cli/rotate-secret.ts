import { type Command, InvalidArgumentError, Option } from 'commander'
import { findInstallation, findLevel, type PlaceOptions } from './commands/installations/find-installation.ts'
import { levelPath, nameLevel } from './commands/installations/installed-level.ts'
import { openSession } from './session.ts'
import { withExamples } from './with-examples.ts'

type Options = PlaceOptions & { overlap?: number; first?: 'new' | 'old'; again?: true; end?: true }

type Rotated = { signingSecret: string; previousSecretUntil?: string }

const mostSeconds = 30 * 86_400

/** `annex rotate-secret`: a new signing secret, shown once; the old one signs too for a while. */
export function addRotateSecret(program: Command): void {
  const command = program
    .command('rotate-secret')
    .description('make a new signing secret; for a day, or as long as you say, the old one signs too')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .addOption(new Option('--site <name>', 'the secret of that site: id or slug').conflicts('space'))
    .option('--space <name>', 'the secret of that space: id or slug')
    .option('--overlap <seconds>', 'how long the old one signs too; 0: not at all', toSeconds)
    .addOption(
      new Option(
        '--first <which>',
        'whose signature a receiver gets that reads only one (default old)',
      ).choices(['old', 'new']),
    )
    .option('--again', 'instead of the new secret of a rotation under way, which nobody has')
    .addOption(
      new Option('--end', 'make none: end the old one of a rotation under way').conflicts([
        'overlap',
        'first',
        'again',
      ]),
    )
    .action(rotate)
  withExamples(command, [
    'annex rotate-secret webhook --site sample',
    'annex rotate-secret webhook --site sample --end      the receiver has the new one',
    'annex rotate-secret webhook --site sample --overlap 0      the old one has leaked',
  ])
}

async function rotate(named: string, options: Options, command: Command): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const path = `${levelPath(level)}/signing-secret`
  if (options.end) {
    await api.delete(`${path}/previous`)
    if (terminal.json) return terminal.printJson({ ended: true })
    return terminal.print(`only the newest secret signs (${nameLevel(level)})`)
  }
  const { overlap: overlapSeconds, first, again } = options
  const rotated = await api.post<Rotated>(path, {
    ...(overlapSeconds !== undefined && { overlapSeconds }),
    ...(first !== undefined && { first }),
    ...(again && { again }),
  })
  if (terminal.json) return terminal.printJson(rotated)
  const { signingSecret, previousSecretUntil } = rotated
  terminal.print(`signing secret (${nameLevel(level)}) ${signingSecret}`)
  terminal.print(
    previousSecretUntil === undefined
      ? 'the old one signs no more'
      : `the old one signs too, until ${previousSecretUntil}`,
  )
  terminal.say('Keep the signing secret: it is shown only this once.')
}

function toSeconds(text: string): number {
  const seconds = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= mostSeconds) return seconds
  throw new InvalidArgumentError(
    `It must be a whole number of seconds from 0 to ${mostSeconds}, which is 30 days.`,
  )
}
