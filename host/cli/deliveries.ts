import { type Command, Option } from 'commander'
import type {
  Attempt,
  DeliveryWithAttempts,
  HeaderList,
  ListDeliveriesQuery,
} from '../../schemas/generated/api/deliveries.ts'
import { followFeed } from './delivery-feed.ts'
import { assertFilterExists } from './find-records.ts'
import { createLimitOption, createPageOption, parseTime, withExamples } from './options.ts'
import { addSendFailed } from './send-failed.ts'
import { openSession, type Session } from './session.ts'
import { paint, printTable, type Terminal, toStatus } from './terminal.ts'

type Query = Partial<ListDeliveriesQuery>
type Options = Query & { follow?: boolean }

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('list, follow, show and resend deliveries')
  withExamples(deliveries, [
    'annex deliveries list --state failed',
    'annex deliveries --follow',
    'annex deliveries show dlv_0199…',
    'annex deliveries send-failed --since 2h',
  ])
  const list = deliveries
    .command('list', { isDefault: true })
    .description('list deliveries, newest first, or follow their attempts')
    .addOption(new Option('--state <state>', 'in this state').choices(['pending', 'delivered', 'failed']))
    .option('--installation <id>', 'of this installation')
    .option('--receiver <id>', 'to this receiver')
    .option('--event <id>', 'of this event')
    .option('--event-type <type>', 'of events of this type')
    .option('--after <time>', 'created at or after this time, or how long ago (30m, 2h, 7d)', parseTime)
    .option('--before <time>', 'created before this time', parseTime)
    .addOption(createLimitOption())
    .addOption(createPageOption())
    .option('--follow', 'print attempts live, until interrupted')
    .action(async (options: Options, command: Command) => {
      const session = openSession(command)
      const { follow, after, before, limit, page, ...filter } = options
      await assertFilterExists(session.api, filter)
      await (follow === true
        ? followFeed(session, { ...filter, ...(after && { after }) })
        : printList(session, { ...filter, after, before, limit, page }))
    })
  withExamples(list, ['annex deliveries list --state failed', 'annex deliveries --follow'])
  const show = deliveries
    .command('show')
    .description('show a delivery: its body, and each attempt with its answer')
    .argument('<id>', 'id of the delivery')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const delivery = await api.call('GET /v1/deliveries/{delivery}', { params: { delivery: id } })
      if (terminal.json) terminal.printJson(delivery)
      else printDelivery(terminal, delivery)
    })
  withExamples(show, ['annex deliveries show dlv_0199…', 'annex deliveries show dlv_0199… --json'])
  const send = deliveries
    .command('send')
    .description('make an attempt now; a finished delivery is sent again')
    .argument('<id>', 'id of the delivery')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const delivery = await api.call('POST /v1/deliveries/{delivery}/send', { params: { delivery: id } })
      if (terminal.json) return terminal.printJson(delivery)
      terminal.print(`${delivery.id} `, toStatus(delivery.state), ` to ${delivery.url}`)
    })
  withExamples(send, ['annex deliveries send dlv_0199…'])
  addSendFailed(deliveries)
}

async function printList({ api, terminal }: Session, query: Query): Promise<void> {
  const answer = await api.call('GET /v1/deliveries', { query })
  if (terminal.json) return terminal.printJson(answer)
  const rows = answer.items.map((delivery) => [
    delivery.id,
    toStatus(delivery.state),
    String(delivery.attempts),
    delivery.event.type,
    delivery.createdAt,
    delivery.url,
  ])
  printTable(terminal, ['delivery', 'state', 'attempts', 'event', 'created', 'url'], rows)
}

/** Prints a delivery with its body and each attempt: request headers, answer headers, the first bytes of the answer. */
export function printDelivery(terminal: Terminal, delivery: DeliveryWithAttempts): void {
  const { id, state, reason, event, installation, receiver, url, signedBy, body, attemptList } = delivery
  terminal.print(paint('bold', id), ' ', toStatus(state), reason === undefined ? '' : ` ${reason}`)
  terminal.print(`event        ${event.id} ${event.type}`)
  terminal.print(`installation ${installation}, signed with the secret of ${signedBy}`)
  terminal.print(`receiver     ${receiver}`)
  terminal.print(`url          ${url}`)
  if (delivery.nextAttemptAt !== undefined) terminal.print(`next attempt ${delivery.nextAttemptAt}`)
  terminal.print('body')
  printIndented(terminal, body ?? '(pruned)')
  for (const attempt of attemptList) printAttempt(terminal, attempt)
}

function printAttempt(terminal: Terminal, attempt: Attempt): void {
  const { number, startedAt, durationMs, request, response } = attempt
  terminal.print()
  terminal.print(paint('bold', `attempt ${number}`), ` ${startedAt} ${durationMs} ms, ${outcomeOf(attempt)}`)
  const timing = timingOf(attempt.timing)
  if (timing !== '') terminal.print(paint('dim', `  ${timing}`))
  printHeaders(terminal, '>', request.headers)
  if (response === undefined) return
  printHeaders(terminal, '<', response.headers)
  if (response.body !== '') printIndented(terminal, response.body)
}

function outcomeOf({ outcome, response, error }: Attempt): string {
  if (response !== undefined) return `status ${response.status}`
  if (outcome === 'interrupted') return `interrupted: ${error?.message}`
  return `${error?.code}: ${error?.message}`
}

const timingNames = { dnsMs: 'DNS', connectMs: 'connect', tlsMs: 'TLS', firstByteMs: 'first byte' } as const

/** `DNS 2 ms, connect 1 ms, first byte 12 ms`: the phases that an attempt reached. */
function timingOf(timing: Attempt['timing'] = {}): string {
  const parts = Object.entries(timingNames).flatMap(([field, name]) => {
    const ms = timing[field as keyof typeof timingNames]
    return typeof ms === 'number' ? [`${name} ${Math.round(ms * 10) / 10} ms`] : []
  })
  return parts.join(', ')
}

function printHeaders(terminal: Terminal, mark: string, headers: HeaderList): void {
  for (const [name, value] of headers) terminal.print(paint('dim', `  ${mark} ${name}: ${value}`))
}

function printIndented(terminal: Terminal, text: string): void {
  for (const line of text.split('\n')) terminal.print(`  ${line}`)
}
