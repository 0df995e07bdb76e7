import { type Command, InvalidArgumentError } from 'commander'
import { assertThere } from '../../api/assert-there.ts'
import { toPath } from '../../client.ts'
import type { Delivery } from '../../records.ts'
import { openSession, type Session } from '../../session.ts'
import { confirm } from '../../terminal/ask.ts'
import { toStatus } from '../../terminal/table.ts'
import { parseTime } from '../../time-option.ts'
import { UsageError } from '../../usage-error.ts'
import { withExamples } from '../../with-examples.ts'

type Filter = { since: string; until?: string; endpoint?: string; installation?: string; eventType?: string }
type Options = Filter & { perSecond?: number; dryRun?: boolean; yes?: boolean }
type Counted = { count: number; disabled: number; moving: number; seconds?: number; resend?: string }

/** `annex deliveries send` and `annex deliveries send-failed`. */
export function addSendAgain(deliveries: Command): void {
  const send = deliveries
    .command('send')
    .description('send one delivery now: its next attempt, or again where it failed or was delivered')
    .argument('<id>', 'id of the delivery')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const delivery = await api.post<Delivery>(toPath`/v1/deliveries/${id}/send`)
      if (terminal.json) return terminal.printJson(delivery)
      terminal.print(`${delivery.id} `, toStatus(delivery.state), ` to ${delivery.url}`)
    })
  withExamples(send, ['annex deliveries send dlv_0199…'])
  const sendFailed = deliveries
    .command('send-failed')
    .description(
      'send all again that have failed since a time; says how many, asks, and does not wait for it',
    )
    .requiredOption('--since <time>', 'failed from then on: how long ago (30m, 2h, 7d), or a time', parseTime)
    .option('--until <time>', 'owed first before then', parseTime)
    .option('--endpoint <id>', 'to that endpoint')
    .option('--installation <id>', 'of that installation')
    .option('--event-type <type>', 'of events of that type')
    .option('--per-second <number>', 'how many come due each second (10)', parseRate)
    .option('--dry-run', 'only say how many')
    .option('--yes', 'do not ask')
    .action(async ({ yes, dryRun, ...given }: Options, command: Command) => {
      await sendAllFailed(openSession(command), given, { yes: yes === true, dryRun: dryRun === true })
    })
  withExamples(sendFailed, [
    'annex deliveries send-failed --since 2h --dry-run',
    'annex deliveries send-failed --since 2h --endpoint ep_0199… --per-second 50 --yes',
  ])
}

async function sendAllFailed(
  { api, terminal }: Session,
  given: Omit<Options, 'yes' | 'dryRun'>,
  { yes, dryRun }: { yes: boolean; dryRun: boolean },
): Promise<void> {
  await assertThere(api, given)
  const path = '/v1/deliveries/send-failed'
  const found = await api.post<Counted>(path, { ...given, dryRun: true })
  terminal.say(`${tellCount(found.count)} failed since ${given.since}.`)
  if (found.disabled > 0) {
    terminal.say(`Another ${found.disabled} cannot be sent while their endpoints are disabled.`)
  }
  if (found.moving > 0) {
    terminal.say(`Another ${found.moving} cannot be sent while their installations are being moved.`)
  }
  const isConfirmed = dryRun || found.count === 0 ? false : yes || (await confirm('Send them again?'))
  if (isConfirmed === undefined)
    throw new UsageError('Nobody can be asked here: --yes sends them, --dry-run counts.')
  const answer = isConfirmed ? await api.post<Counted>(path, given) : { ...found, dryRun: true }
  if (terminal.json) terminal.printJson(answer)
  else if (answer.resend !== undefined) {
    terminal.print(`${answer.resend}: ${tellCount(answer.count)} sent again, over ${answer.seconds} s.`)
    terminal.say(`How far it is: annex resends show ${answer.resend}`)
  }
}

const tellCount = (count: number): string => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`

function parseRate(text: string): number {
  const rate = Number(text)
  if (rate >= 0.1 && rate <= 1_000) return rate
  throw new InvalidArgumentError('It must be a number from 0.1 to 1000.')
}
