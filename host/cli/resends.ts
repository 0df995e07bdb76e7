import { type Command, InvalidArgumentError } from 'commander'
import { toPath } from './client.ts'
import { assertFilterExists } from './find-records.ts'
import { createLimitOption, parseTime, UsageError, withExamples } from './options.ts'
import type { List, Resend } from './records.ts'
import { openSession, type Session } from './session.ts'
import { confirm, paint, printTable, toStatus } from './terminal.ts'

export function addResends(program: Command): void {
  const resends = program
    .command('resends')
    .description('list and stop the resends that `deliveries send-failed` started')
  withExamples(resends, ['annex resends', 'annex resends show rsd_0199…', 'annex resends stop rsd_0199…'])
  resends
    .command('list', { isDefault: true })
    .description('list resends, the newest first')
    .addOption(createLimitOption())
    .action(async (options: { limit?: number }, command: Command) => {
      const { api, terminal } = openSession(command)
      const answer = await api.get<List<Resend>>('/v1/resends', options)
      if (terminal.json) return terminal.printJson(answer)
      const rows = answer.items.map(({ id, state, sent, count, perSecond, since, createdAt }) => [
        id,
        toStatus(state),
        `${sent} of ${count}`,
        String(perSecond),
        since,
        createdAt,
      ])
      printTable(terminal, ['resend', 'state', 'sent', 'a second', 'failed since', 'created'], rows)
    })
  addOne(resends, 'show', 'show the progress of a resend', ({ api }, id) =>
    api.get<Resend>(toPath`/v1/resends/${id}`),
  )
  addOne(resends, 'stop', 'stop a resend; deliveries that it has queued already are sent', ({ api }, id) =>
    api.post<Resend>(toPath`/v1/resends/${id}/stop`),
  )
}

function addOne(
  resends: Command,
  name: string,
  description: string,
  ask: (session: Session, id: string) => Promise<Resend>,
): void {
  resends
    .command(name)
    .description(description)
    .argument('<id>', 'id of the resend')
    .action(async (id: string, _options: object, command: Command) => {
      const session = openSession(command)
      print(session, await ask(session, id))
    })
}

function print({ terminal }: Session, resend: Resend): void {
  if (terminal.json) return terminal.printJson(resend)
  const { id, state, sent, count, perSecond, since, until, endpoint, installation, eventType } = resend
  const left = Math.ceil(Math.max(0, count - sent) / perSecond)
  terminal.print(paint('bold', id), ' ', toStatus(state), ` ${sent} of ${count} queued again`)
  terminal.print(`speed        ${perSecond} a second${state === 'running' ? `, ${left} s left` : ''}`)
  terminal.print(`failed       since ${since}${until === undefined ? '' : `, created before ${until}`}`)
  if (endpoint !== undefined) terminal.print(`endpoint     ${endpoint}`)
  if (installation !== undefined) terminal.print(`installation ${installation}`)
  if (eventType !== undefined) terminal.print(`event type   ${eventType}`)
}

type ResendRequest = {
  since: string
  until?: string
  endpoint?: string
  installation?: string
  eventType?: string
  perSecond?: number
}
type SendFailedOptions = ResendRequest & { dryRun?: boolean; yes?: boolean }
type Counted = { count: number; disabled: number; seconds?: number; resend?: string }

/** `annex deliveries send-failed` starts a resend; `annex resends` shows and stops it. */
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
    .option('--endpoint <id>', 'to this receiver')
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
    'annex deliveries send-failed --since 2h --endpoint ep_0199… --per-second 50 --yes',
  ])
}

async function sendAllFailed(
  { api, terminal }: Session,
  request: ResendRequest,
  { yes, dryRun }: { yes: boolean; dryRun: boolean },
): Promise<void> {
  await assertFilterExists(api, request)
  const path = '/v1/deliveries/send-failed'
  const found = await api.post<Counted>(path, { ...request, dryRun: true })
  terminal.say(`${countOf(found.count)} failed since ${request.since}.`)
  if (found.disabled > 0) {
    terminal.say(`Another ${found.disabled} cannot be sent while their receivers are disabled.`)
  }
  const isConfirmed = dryRun || found.count === 0 ? false : yes || (await confirm('Send them again?'))
  if (isConfirmed === undefined)
    throw new UsageError('There is no terminal to ask on: --yes sends them, --dry-run counts them.')
  const answer = isConfirmed ? await api.post<Counted>(path, request) : { ...found, dryRun: true }
  if (terminal.json) terminal.printJson(answer)
  else if (answer.resend !== undefined) {
    terminal.print(`${answer.resend}: ${countOf(answer.count)} sent again, over ${answer.seconds} s.`)
    terminal.say(`Its progress: annex resends show ${answer.resend}`)
  }
}

const countOf = (count: number): string => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`

function parseRate(text: string): number {
  const rate = Number(text)
  if (rate >= 0.1 && rate <= 1_000) return rate
  throw new InvalidArgumentError('It must be a number from 0.1 to 1000.')
}
