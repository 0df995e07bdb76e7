import { type Command, InvalidArgumentError, Option } from 'commander'
import { findInstallation, findLevel, type LevelOptions, nameLevel, paramsOf } from './find-records.ts'
import { addLevelOptions, withExamples } from './options.ts'
import { openSession } from './session.ts'

type Options = LevelOptions & { overlap?: number; first?: 'new' | 'old'; again?: true; end?: true }

const maxOverlapSeconds = 30 * 86_400

export function addRotateSecret(program: Command): void {
  const command = addLevelOptions(
    program
      .command('rotate-secret')
      .description('create a signing secret; both secrets sign for a day, or for --overlap')
      .argument('<installation>', 'id of the installation, or name of the integration'),
    (kind) => `secret of this ${kind}`,
  )
    .option('--overlap <seconds>', 'how long the old secret signs too; 0: not at all', toSeconds)
    .addOption(
      new Option(
        '--first <which>',
        'signature that comes first, for receivers that read only one (old)',
      ).choices(['old', 'new']),
    )
    .option('--again', 'replace the new secret of an unfinished rotation, as when it was lost')
    .addOption(
      new Option('--end', 'finish a rotation: the old secret signs no more').conflicts([
        'overlap',
        'first',
        'again',
      ]),
    )
    .action(rotate)
  withExamples(command, [
    'annex rotate-secret webhook --site sample',
    'annex rotate-secret webhook --site sample --end            when the receiver has the new secret',
    'annex rotate-secret webhook --site sample --overlap 0      when the old secret has leaked',
  ])
}

async function rotate(named: string, options: Options, command: Command): Promise<void> {
  const session = openSession(command)
  const { api, terminal } = session
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const params = paramsOf(level)
  if (options.end) {
    await api.call(
      'DELETE /v1/integrations/{integration}/installations/{installation}/signing-secret/previous',
      { params },
    )
    if (terminal.json) return terminal.printJson({ ended: true })
    return terminal.print(`only the newest secret signs (${nameLevel(level)})`)
  }
  const { overlap: overlapSeconds, first, again } = options
  const body = {
    ...(overlapSeconds !== undefined && { overlapSeconds }),
    ...(first !== undefined && { first }),
    ...(again && { again }),
  }
  const rotated = await api.call(
    'POST /v1/integrations/{integration}/installations/{installation}/signing-secret',
    { params, body },
  )
  if (terminal.json) return terminal.printJson(rotated)
  const { signingSecret, previousSecretUntil } = rotated
  terminal.print(`signing secret (${nameLevel(level)}) ${signingSecret}`)
  terminal.print(
    previousSecretUntil === undefined
      ? 'the old secret signs no more'
      : `the old secret signs too, until ${previousSecretUntil}`,
  )
  terminal.say('Keep the signing secret: it is shown only once.')
}

function toSeconds(text: string): number {
  const seconds = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= maxOverlapSeconds) return seconds
  throw new InvalidArgumentError(
    `It must be a whole number of seconds from 0 to ${maxOverlapSeconds}, which is 30 days.`,
  )
}
