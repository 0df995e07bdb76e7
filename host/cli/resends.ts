import type { Command } from 'commander'
import { toPath } from './client.ts'
import { createLimitOption } from './options.ts'
import type { List, Resend } from './records.ts'
import { openSession, type Session } from './session.ts'
import { printTable, toStatus } from './terminal/table.ts'
import { paint } from './terminal.ts'
import { withExamples } from './with-examples.ts'

/** `annex resends`: failed deliveries that are sent again together, and how far that is. */
export function addResends(program: Command): void {
  const resends = program
    .command('resends')
    .description('look at what `deliveries send-failed` has begun; stop it')
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
        ...[id, toStatus(state), `${sent} of ${count}`, String(perSecond), since, createdAt],
      ])
      printTable(terminal, ['resend', 'state', 'sent', 'a second', 'failed since', 'created'], rows)
    })
  addOne(resends, 'show', 'show how far one is', ({ api }, id) => api.get<Resend>(toPath`/v1/resends/${id}`))
  addOne(resends, 'stop', 'send no more by it; what is owed again by now is sent', ({ api }, id) =>
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
  terminal.print(paint('bold', id), ' ', toStatus(state), ` ${sent} of ${count} owed again`)
  terminal.print(`speed        ${perSecond} a second${state === 'running' ? `, ${left} s to go` : ''}`)
  terminal.print(`failed       since ${since}${until === undefined ? '' : `, owed first before ${until}`}`)
  if (endpoint !== undefined) terminal.print(`endpoint     ${endpoint}`)
  if (installation !== undefined) terminal.print(`installation ${installation}`)
  if (eventType !== undefined) terminal.print(`event type   ${eventType}`)
}
