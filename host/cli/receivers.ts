import { type Command, Option } from 'commander'
import { assertThere } from './api/assert-there.ts'
import { toPath } from './client.ts'
import { createLimitOption } from './options.ts'
import type { Delivery, Endpoint, List } from './records.ts'
import { openSession, type Session } from './session.ts'
import { printTable, toStatus } from './terminal/table.ts'
import { paint } from './terminal.ts'
import { withExamples } from './with-examples.ts'

/** `annex endpoints`: where deliveries go, and whether anything is sent there. */
export function addEndpoints(program: Command): void {
  const endpoints = program
    .command('endpoints')
    .description('look at where deliveries go; pause and resume it')
  withExamples(endpoints, [
    'annex endpoints list --state disabled',
    'annex endpoints pause ep_0199… --reason "moves tonight"',
    'annex endpoints resume ep_0199…',
    'annex endpoints example ep_0199…',
  ])
  endpoints
    .command('list', { isDefault: true })
    .description('list endpoints, the newest first')
    .addOption(new Option('--state <state>', 'in that state').choices(['active', 'paused', 'disabled']))
    .option('--installation <id>', 'of that installation')
    .addOption(createLimitOption())
    .action(async (options: { state?: string; installation?: string; limit?: number }, command: Command) => {
      const { api, terminal } = openSession(command)
      await assertThere(api, options)
      const answer = await api.get<List<Endpoint>>('/v1/endpoints', options)
      if (terminal.json) return terminal.printJson(answer)
      const rows = answer.items.map((endpoint) => [
        ...[endpoint.id, toStatus(endpoint.state), noteOf(endpoint), endpoint.installation, endpoint.url],
      ])
      printTable(terminal, ['endpoint', 'state', '', 'installation', 'url'], rows)
    })
  addOne(endpoints, 'show', 'show one endpoint, with what is owed to it', (session, id) =>
    session.api.get<Endpoint>(toPath`/v1/endpoints/${id}`),
  )
  addOne(endpoints, 'pause', 'send nothing there; what is owed waits', (session, id, { reason }) =>
    session.api.post<Endpoint>(toPath`/v1/endpoints/${id}/pause`, reason === undefined ? {} : { reason }),
  ).option('--reason <text>', 'why, for whoever looks')
  addOne(
    endpoints,
    'resume',
    'send there again, also where it is left alone after failures; what has waited is due',
    (session, id) => session.api.post<Endpoint>(toPath`/v1/endpoints/${id}/resume`),
  )
  addOne(
    endpoints,
    'order',
    'send one delivery after the other, in the order in which they are owed',
    (session, id, { off }) =>
      session.api.patch<Endpoint>(toPath`/v1/endpoints/${id}`, { ordered: off !== true }),
  ).option('--off', 'no longer: several at once, in any order')
  endpoints
    .command('example')
    .description('send an example event there, signed as any other')
    .argument('<id>', 'id of the endpoint')
    .option('--type <type>', 'site_view, page_feedback or space_content_updated')
    .action(async (id: string, { type }: { type?: string }, command: Command) => {
      const { api, terminal } = openSession(command)
      const path = toPath`/v1/endpoints/${id}/example`
      const delivery = await api.post<Delivery>(path, type === undefined ? {} : { type })
      if (terminal.json) return terminal.printJson(delivery)
      terminal.print(`${delivery.id} `, toStatus(delivery.state), ` to ${delivery.url}`)
      terminal.say(`What becomes of it: annex deliveries show ${delivery.id}`)
    })
}

const noteOf = ({ ordered, leftAloneUntil }: Endpoint): string =>
  [ordered ? 'in order' : '', leftAloneUntil && `left alone until ${leftAloneUntil}`]
    .filter(Boolean)
    .join(', ')

type ActOptions = { reason?: string; off?: boolean }

function addOne(
  endpoints: Command,
  name: string,
  description: string,
  act: (session: Session, id: string, options: ActOptions) => Promise<Endpoint>,
): Command {
  return endpoints
    .command(name)
    .description(description)
    .argument('<id>', 'id of the endpoint')
    .action(async (id: string, options: ActOptions, command: Command) => {
      const session = openSession(command)
      print(session, await act(session, id, options))
    })
}

function print({ terminal }: Session, endpoint: Endpoint): void {
  if (terminal.json) return terminal.printJson(endpoint)
  const { id, state, reason, url, installation, signedBy, ordered, owed, days = [] } = endpoint
  const { failingSince, leftAloneUntil } = endpoint
  terminal.print(paint('bold', id), ' ', toStatus(state), reason === undefined ? '' : ` ${reason}`)
  terminal.print(`url          ${url}`)
  terminal.print(`installation ${installation}, signed with the secret of ${signedBy}`)
  if (ordered) terminal.print('order        one delivery after the other')
  if (failingSince !== undefined) terminal.print(`failing      since ${failingSince}`)
  if (leftAloneUntil !== undefined) {
    terminal.print(`left alone   until ${leftAloneUntil}, and then tried with one delivery`)
  }
  if (owed !== undefined) terminal.print(`owed         ${owed.due} due, ${owed.waiting} waiting`)
  for (const { day, delivered, failed, attempts } of days) {
    terminal.print(`${day}   ${delivered} delivered, ${failed} failed, ${attempts} attempts`)
  }
}
