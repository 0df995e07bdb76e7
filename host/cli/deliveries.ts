import { type Command, Option } from 'commander'
import { assertThere } from './api/assert-there.ts'
import { toPath } from './client.ts'
import { followFeed } from './commands/deliveries/follow-feed.ts'
import { printDelivery } from './commands/deliveries/print-delivery.ts'
import { addSendAgain } from './commands/deliveries/send-again.ts'
import type { DeliveryFilter } from './delivery-feed.ts'
import { createLimitOption } from './options.ts'
import type { Delivery, DeliveryWithAttempts, List } from './records.ts'
import { openSession, type Session } from './session.ts'
import { printTable, toStatus } from './terminal/table.ts'
import { parseTime } from './time-option.ts'
import { withExamples } from './with-examples.ts'

type Page = { after?: string; before?: string; limit?: number }
type Options = DeliveryFilter & Page & { follow?: boolean }

/** `annex deliveries`: what was sent, and what became of it. */
export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('look at deliveries and their attempts')
  withExamples(deliveries, [
    'annex deliveries list --state failed',
    'annex deliveries --follow',
    'annex deliveries show dlv_0199…',
    'annex deliveries send-failed --since 2h',
  ])
  const list = deliveries
    .command('list', { isDefault: true })
    .description('list deliveries, the newest first, or follow them as they happen')
    .addOption(new Option('--state <state>', 'in that state').choices(['owed', 'delivered', 'failed']))
    .option('--installation <id>', 'of that installation')
    .option('--endpoint <id>', 'to that endpoint')
    .option('--event <id>', 'of that event')
    .option('--event-type <type>', 'of events of that type')
    .option('--after <time>', 'owed from then on: a time, or how long ago (30m, 2h, 7d)', parseTime)
    .option('--before <time>', 'owed before then', parseTime)
    .addOption(createLimitOption())
    .option('--follow', 'print attempts as they are made, until interrupted')
    .action(async (options: Options, command: Command) => {
      const session = openSession(command)
      const { follow, after, before, limit, ...filter } = options
      const page = { after, before, limit } as Page
      await assertThere(session.api, filter)
      await (follow === true
        ? followFeed(session, { ...filter, ...(after && { after }) })
        : printList(session, filter, page))
    })
  withExamples(list, ['annex deliveries list --state failed', 'annex deliveries --follow'])
  const show = deliveries
    .command('show')
    .description('show one delivery: its body, and each attempt with its answer')
    .argument('<id>', 'id of the delivery')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const delivery = await api.get<DeliveryWithAttempts>(toPath`/v1/deliveries/${id}`)
      if (terminal.json) terminal.printJson(delivery)
      else printDelivery(terminal, delivery)
    })
  addSendAgain(deliveries)
  withExamples(show, ['annex deliveries show dlv_0199…', 'annex deliveries show dlv_0199… --json'])
}

async function printList({ api, terminal }: Session, filter: DeliveryFilter, page: Page): Promise<void> {
  const answer = await api.get<List<Delivery>>('/v1/deliveries', { ...filter, ...page })
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
