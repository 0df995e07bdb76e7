import { type Command, Option } from 'commander'
import type {
  ExampleType,
  ListReceiversQuery,
  Receiver,
  ReceiverWithCounts,
} from '../../schemas/generated/api/receivers.ts'
import { assertFilterExists } from './find-records.ts'
import { createLimitOption, createPageOption, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { paint, printTable, toStatus } from './terminal.ts'

/** `annex receivers`: lists, pauses and resumes receivers, and sends them an example. */
export function addReceivers(program: Command): void {
  const receivers = program
    .command('receivers')
    .description('list, pause and resume the receivers of deliveries')
  withExamples(receivers, [
    'annex receivers list --state disabled',
    'annex receivers pause rcv_0199… --reason "moves tonight"',
    'annex receivers resume rcv_0199…',
    'annex receivers example rcv_0199…',
  ])
  receivers
    .command('list', { isDefault: true })
    .description('list receivers, newest first')
    .addOption(new Option('--state <state>', 'in this state').choices(['active', 'paused', 'disabled']))
    .option('--installation <id>', 'of this installation')
    .addOption(createLimitOption())
    .addOption(createPageOption())
    .action(async (query: Partial<ListReceiversQuery>, command: Command) => {
      const { api, terminal } = openSession(command)
      await assertFilterExists(api, query)
      const answer = await api.call('GET /v1/receivers', { query })
      if (terminal.json) return terminal.printJson(answer)
      const rows = answer.items.map((receiver) => [
        receiver.id,
        toStatus(receiver.state),
        noteOf(receiver),
        receiver.installation,
        receiver.url,
      ])
      printTable(terminal, ['receiver', 'state', '', 'installation', 'url'], rows)
    })
  addOne(receivers, 'show', 'show a receiver and its pending deliveries', (session, id) =>
    session.api.call('GET /v1/receivers/{receiver}', { params: { receiver: id } }),
  )
  addOne(receivers, 'pause', 'pause a receiver: its deliveries wait', (session, id, { reason }) =>
    session.api.call('POST /v1/receivers/{receiver}/pause', {
      params: { receiver: id },
      body: reason === undefined ? {} : { reason },
    }),
  ).option('--reason <text>', 'reason, shown with the receiver')
  addOne(
    receivers,
    'resume',
    'resume a paused or disabled receiver, or close its circuit; waiting deliveries are due',
    (session, id) => session.api.call('POST /v1/receivers/{receiver}/resume', { params: { receiver: id } }),
  )
  addOne(
    receivers,
    'order',
    'send one delivery at a time, in the order of their creation',
    (session, id, { off }) =>
      session.api.call('PATCH /v1/receivers/{receiver}', {
        params: { receiver: id },
        body: { ordered: off !== true },
      }),
  ).option('--off', 'send several at once, in any order')
  receivers
    .command('example')
    .description('send an example event, signed as other deliveries')
    .argument('<id>', 'id of the receiver')
    .option('--type <type>', 'site_view, page_feedback or space_content_updated')
    .action(async (id: string, { type }: ExampleType, command: Command) => {
      const { api, terminal } = openSession(command)
      const delivery = await api.call('POST /v1/receivers/{receiver}/example', {
        params: { receiver: id },
        body: type === undefined ? {} : { type },
      })
      if (terminal.json) return terminal.printJson(delivery)
      terminal.print(`${delivery.id} `, toStatus(delivery.state), ` to ${delivery.url}`)
      terminal.say(`Its attempts: npx annex deliveries show ${delivery.id}`)
    })
}

const noteOf = ({ ordered, heldBackUntil }: Receiver): string =>
  [ordered ? 'in order' : '', heldBackUntil && `circuit open until ${heldBackUntil}`]
    .filter(Boolean)
    .join(', ')

type ActOptions = { reason?: string; off?: boolean }

function addOne(
  receivers: Command,
  name: string,
  description: string,
  act: (session: Session, id: string, options: ActOptions) => Promise<ReceiverWithCounts>,
): Command {
  return receivers
    .command(name)
    .description(description)
    .argument('<id>', 'id of the receiver')
    .action(async (id: string, options: ActOptions, command: Command) => {
      const session = openSession(command)
      print(session, await act(session, id, options))
    })
}

function print({ terminal }: Session, receiver: ReceiverWithCounts): void {
  if (terminal.json) return terminal.printJson(receiver)
  const { id, state, reason, url, installation, signedBy, ordered, pending, days } = receiver
  const { failingSince, heldBackUntil } = receiver
  terminal.print(paint('bold', id), ' ', toStatus(state), reason === undefined ? '' : ` ${reason}`)
  terminal.print(`url          ${url}`)
  terminal.print(`installation ${installation}, signed with the secret of ${signedBy}`)
  if (ordered) terminal.print('order        one delivery at a time')
  if (failingSince !== undefined) terminal.print(`failing      since ${failingSince}`)
  if (heldBackUntil !== undefined) {
    terminal.print(`circuit      open until ${heldBackUntil}, then one delivery tests it`)
  }
  terminal.print(`pending      ${pending.due} due, ${pending.waiting} waiting`)
  for (const { day, delivered, failed, attempts } of days) {
    terminal.print(`${day}   ${delivered} delivered, ${failed} failed, ${attempts} attempts`)
  }
}
