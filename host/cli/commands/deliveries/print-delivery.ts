import type { Attempt, DeliveryWithAttempts, HeaderPairs } from '../../records.ts'
import { toStatus } from '../../terminal/table.ts'
import { paint, type Terminal } from '../../terminal.ts'
import { toPairs } from './print-feed.ts'

/** A delivery with its body and each attempt: what was sent, and the first bytes of what came back. */
export function printDelivery(terminal: Terminal, delivery: DeliveryWithAttempts): void {
  const { id, state, reason, event, installation, endpoint, url, signedBy, body, attemptList } = delivery
  terminal.print(paint('bold', id), ' ', toStatus(state), reason === undefined ? '' : ` ${reason}`)
  terminal.print(`event        ${event.id} ${event.type}`)
  terminal.print(`installation ${installation}, signed with the secret of ${signedBy}`)
  terminal.print(`endpoint     ${endpoint}`)
  terminal.print(`url          ${url}`)
  if (delivery.nextAttemptAt !== undefined) terminal.print(`next attempt ${delivery.nextAttemptAt}`)
  terminal.print('body')
  printIndented(terminal, body)
  for (const attempt of attemptList) printAttempt(terminal, attempt)
}

function printAttempt(terminal: Terminal, attempt: Attempt): void {
  const { number, startedAt, durationMs, request, response } = attempt
  terminal.print()
  terminal.print(
    paint('bold', `attempt ${number}`),
    ` ${startedAt} ${durationMs} ms, ${tellOutcome(attempt)}`,
  )
  const timing = tellTiming(attempt.timing)
  if (timing !== '') terminal.print(paint('dim', `  ${timing}`))
  printHeaders(terminal, '>', request.headers)
  if (response === undefined) return
  printHeaders(terminal, '<', response.headers)
  if (response.body !== '') printIndented(terminal, response.body)
}

function tellOutcome({ outcome, response, error }: Attempt): string {
  if (response !== undefined) return `status ${response.status}`
  if (outcome === 'interrupted') return `interrupted: ${error?.message}`
  return `${error?.code}: ${error?.message}`
}

const timingNames = { dnsMs: 'DNS', connectMs: 'connect', tlsMs: 'TLS', firstByteMs: 'first byte' } as const

/** The parts of an attempt's time that it came to: `DNS 2 ms, connect 1 ms, first byte 12 ms`. */
function tellTiming(timing: Attempt['timing'] = {}): string {
  const parts = Object.entries(timingNames).flatMap(([field, name]) => {
    const ms = timing[field as keyof typeof timingNames]
    return typeof ms === 'number' ? [`${name} ${Math.round(ms * 10) / 10} ms`] : []
  })
  return parts.join(', ')
}

function printHeaders(terminal: Terminal, mark: string, headers: HeaderPairs): void {
  for (const [name, value] of toPairs(headers)) terminal.print(paint('dim', `  ${mark} ${name}: ${value}`))
}

function printIndented(terminal: Terminal, text: string): void {
  for (const line of text.split('\n')) terminal.print(`  ${line}`)
}
