import { type Command, InvalidArgumentError } from 'commander'
import type { FailedToSend } from '../../schemas/generated/api/deliveries.ts'
import { assertFilterExists } from './find-records.ts'
import { parseTime, UsageError, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { confirm } from './terminal.ts'

type SendFailedOptions = FailedToSend & { yes?: boolean }

export function addSendFailed(deliveries: Command): void {
  const sendFailed = deliveries
    .command('send-failed')
    .description('send all deliveries again that failed since a time; it counts them and asks first')
    .requiredOption(
      '--since <time>',
      'failed at or after this time, or how long ago (30m, 2h, 7d)',
      parseTime,
    )
    .option('--until <time>', 'created before this time', parseTime)
    .option('--receiver <id>', 'to this receiver')
    .option('--installation <id>', 'of this installation')
    .option('--event-type <type>', 'of events of this type')
    .option('--per-second <number>', 'deliveries that come due each second (10)', parseRate)
    .option('--dry-run', 'only count them')
    .option('--yes', 'do not ask')
    .action(async ({ yes, dryRun, ...request }: SendFailedOptions, command: Command) => {
      await sendAllFailed(openSession(command), request, { yes: yes === true, dryRun: dryRun === true })
    })
  withExamples(sendFailed, [
    'annex deliveries send-failed --since 2h --dry-run',
    'annex deliveries send-failed --since 2h --receiver rcv_0199… --per-second 50 --yes',
  ])
}

async function sendAllFailed(
  { api, terminal }: Session,
  request: FailedToSend,
  { yes, dryRun }: { yes: boolean; dryRun: boolean },
): Promise<void> {
  await assertFilterExists(api, request)
  const counted = { ...request, dryRun: true }
  const found = await api.call('POST /v1/deliveries/send-failed', { body: counted })
  terminal.say(`${countOf(found.count)} failed since ${request.since}.`)
  if (found.disabled > 0) {
    terminal.say(`Another ${found.disabled} cannot be sent while their receivers are disabled.`)
  }
  const isConfirmed =
    dryRun || found.count === 0 ? false : yes || (await confirm(terminal, 'Send them again?'))
  if (isConfirmed === undefined)
    throw new UsageError('There is no terminal to ask on: --yes sends them, --dry-run counts them.')
  const answer = isConfirmed
    ? await api.long.call('POST /v1/deliveries/send-failed', { body: request })
    : { ...found, dryRun: true }
  if (terminal.json) terminal.printJson(answer)
  else if (answer.seconds !== undefined) {
    terminal.print(`${countOf(answer.count)} sent again, over ${answer.seconds} s.`)
    terminal.say('Those that wait for their time: npx annex deliveries --state pending')
    if (answer.left !== undefined)
      terminal.say(`Another ${answer.left} are left: send them when these are sent.`)
  }
}

const countOf = (count: number): string => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`

function parseRate(text: string): number {
  const rate = Number(text)
  if (rate >= 0.1 && rate <= 1_000) return rate
  throw new InvalidArgumentError('It must be a number from 0.1 to 1000.')
}
