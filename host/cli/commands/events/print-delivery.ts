import type { Attempt, DeliveryWithAttempts, HeaderPairs } from '../../api/records.ts'
import { toStatus } from '../../terminal/table.ts'
import { paint, type Terminal } from '../../terminal/terminal.ts'
import { toPairs } from './print-feed.ts'

/** A delivery with its body and each attempt: what was sent, and the first bytes of what came back. */
export function printDelivery(terminal: Terminal, delivery: DeliveryWithAttempts): void {
  const { id, state, reason, event, installation, url, signedBy, body, attemptList } = delivery
  terminal.print(paint('bold', id), ' ', toStatus(state), reason === undefined ? '' : ` ${reason}`)
  terminal.print(`event        ${event.id} ${event.type}`)
  terminal.print(`installation ${installation}, signed with the secret of ${signedBy}`)
  terminal.print(`url          ${url}`)
  terminal.print('body')
  printIndented(terminal, body)
  for (const attempt of attemptList) printAttempt(terminal, attempt)
}

function printAttempt(terminal: Terminal, attempt: Attempt): void {
  const { number, startedAt, durationMs, request, response, error } = attempt
  const outcome = response === undefined ? `${error?.code}: ${error?.message}` : `status ${response.status}`
  terminal.print()
  terminal.print(paint('bold', `attempt ${number}`), ` ${startedAt} ${durationMs} ms, ${outcome}`)
  printHeaders(terminal, '>', request.headers)
  if (response === undefined) return
  printHeaders(terminal, '<', response.headers)
  if (response.body !== '') printIndented(terminal, response.body)
}

function printHeaders(terminal: Terminal, mark: string, headers: HeaderPairs): void {
  for (const [name, value] of toPairs(headers)) terminal.print(paint('dim', `  ${mark} ${name}: ${value}`))
}

function printIndented(terminal: Terminal, text: string): void {
  for (const line of text.split('\n')) terminal.print(`  ${line}`)
}
