import type { FeedItem } from '../../delivery-feed.ts'
import type { Attempt, Delivery, HeaderPairs } from '../../records.ts'
import { toSafeLine } from '../../terminal/safe-text.ts'
import { type Part, paint, type Terminal } from '../../terminal.ts'

/** One line for each thing that happened: `-->` a delivery is owed, `<--` what an attempt brought, `x` it has failed. */
export function printFeedItem(terminal: Terminal, item: FeedItem): void {
  if (terminal.json) return terminal.printJsonLine(item)
  if (item.kind === 'owed') {
    const { event, url, createdAt } = item.delivery
    terminal.print(...at(createdAt), paint('cyan', '--> '), `${event.type} ${event.id} to ${toSafeLine(url)}`)
  } else if (item.kind === 'attempt') printAttempt(terminal, item)
  else if (item.delivery.state === 'failed') {
    const { event, finishedAt, reason = 'failed' } = item.delivery
    // Another delivery than that of the line before, it may be: one may fail without an attempt.
    terminal.print(...at(finishedAt), paint('red', '  x '), `${event.type} ${event.id} ${toSafeLine(reason)}`)
  }
}

function printAttempt(terminal: Terminal, item: Extract<FeedItem, { kind: 'attempt' }>): void {
  const { delivery, attempt, previousStartedAt } = item
  const { number, startedAt, durationMs, response, error } = attempt
  const outcome = response === undefined ? toSafeLine(error?.message ?? 'no answer') : String(response.status)
  const isGood = response !== undefined && response.status >= 200 && response.status < 300
  const since = previousStartedAt && (Date.parse(startedAt) - Date.parse(previousStartedAt)) / 1000
  terminal.print(
    ...at(startedAt),
    paint(isGood ? 'green' : 'yellow', '<-- '),
    paint(isGood ? 'green' : 'yellow', outcome),
    ` ${toSafeLine(delivery.url)} ${durationMs} ms`,
    typeof since !== 'number' ? '' : `, ${since.toFixed(1)} s after attempt ${number - 1}`,
    isGood ? ', delivered' : whenAgain(delivery, attempt),
  )
}

/** The wait before the next attempt, of the last attempt that there was: when that is, the server has decided. */
export function whenAgain(delivery: Delivery, { number, startedAt, durationMs }: Attempt): string {
  const { nextAttemptAt, attempts } = delivery
  if (nextAttemptAt === undefined || attempts !== number) return ''
  const waitMs = Date.parse(nextAttemptAt) - Date.parse(startedAt) - durationMs
  return `, again in ${(Math.max(0, waitMs) / 1000).toFixed(1)} s`
}

/** Headers as pairs, whichever way they came. */
export const toPairs = (headers: HeaderPairs): [string, string][] =>
  Array.isArray(headers) ? headers : Object.entries(headers)

/** The local time of day. */
function at(iso: string | undefined): Part[] {
  const date = new Date(iso ?? '')
  if (Number.isNaN(date.getTime())) return []
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  )
  const thousandths = String(date.getMilliseconds()).padStart(3, '0')
  return [paint('dim', `${hours}:${minutes}:${seconds}.${thousandths} `)]
}
