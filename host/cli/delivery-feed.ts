import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, isApiError } from '../../schemas/client.ts'
import type { Attempt, Delivery, FollowDeliveriesQuery } from '../../schemas/generated/api/deliveries.ts'
import { isAnnexError, messageOf } from '../errors.ts'
import { readAll, readServerEvents } from './client.ts'
import type { Session } from './session.ts'
import { type Part, paint, type Terminal, toSafeLine } from './terminal.ts'

/** A change of a delivery. */
export type FeedItem =
  | { kind: 'pending'; delivery: Delivery }
  | { kind: 'attempt'; delivery: Delivery; attempt: Attempt; previousStartedAt?: string }
  | { kind: 'settled'; delivery: Delivery }

type DeliveryFilter = Omit<FollowDeliveriesQuery, 'after'>

const pollMs = 300

type Seen = { attempts: number; settled: boolean }

/** Polls the deliveries of an event and yields their changes. Each poll ends with `undefined`: the reader may stop. */
export async function* pollDeliveries(
  api: Client,
  filter: DeliveryFilter & { event: string },
): AsyncGenerator<FeedItem | undefined> {
  const seen = new Map<string, Seen>()
  for (;;) {
    for (const delivery of await listAll(api, filter)) yield* changesOf(api, delivery, seen)
    yield undefined
    await sleep(pollMs)
  }
}

/** All deliveries, oldest first. */
async function listAll(api: Client, query: DeliveryFilter): Promise<Delivery[]> {
  return (await readAll(api.all('GET /v1/deliveries', { query }))).items.reverse()
}

async function* changesOf(
  api: Client,
  delivery: Delivery,
  seen: Map<string, Seen>,
): AsyncGenerator<FeedItem> {
  const before = seen.get(delivery.id)
  if (before?.settled || (before?.attempts === delivery.attempts && delivery.state === 'pending')) return
  if (before === undefined) yield { kind: 'pending', delivery }
  const now = await api.call('GET /v1/deliveries/{delivery}', { params: { delivery: delivery.id } })
  for (const attempt of now.attemptList) {
    if (attempt.number <= (before?.attempts ?? 0)) continue
    const previous = now.attemptList.find(({ number }) => number === attempt.number - 1)
    const previousStartedAt = previous && { previousStartedAt: previous.startedAt }
    yield { kind: 'attempt', delivery: now, attempt, ...previousStartedAt }
  }
  const settled = now.state !== 'pending'
  if (settled) yield { kind: 'settled', delivery: now }
  seen.set(delivery.id, { attempts: now.attemptList.length, settled })
}

/** One line for each change: `-->` a delivery was queued, `<--` an attempt ended, `x` a delivery failed. */
export function printFeedItem(terminal: Terminal, item: FeedItem): void {
  if (terminal.json) return terminal.printJsonLine(item)
  if (item.kind === 'pending') {
    const { event, url, createdAt } = item.delivery
    terminal.print(...at(createdAt), paint('cyan', '--> '), `${event.type} ${event.id} to ${toSafeLine(url)}`)
  } else if (item.kind === 'attempt') printFeedAttempt(terminal, item)
  else if (item.delivery.state === 'failed') {
    const { event, finishedAt, reason = 'failed' } = item.delivery
    // A delivery may fail without an attempt, so the line names the event again.
    terminal.print(...at(finishedAt), paint('red', '  x '), `${event.type} ${event.id} ${toSafeLine(reason)}`)
  }
}

function printFeedAttempt(terminal: Terminal, item: Extract<FeedItem, { kind: 'attempt' }>): void {
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
    isGood ? ', delivered' : nextAttemptIn(delivery, attempt),
  )
}

/** The wait between the newest attempt and the next one, as the server scheduled it. Empty for earlier attempts. */
export function nextAttemptIn(delivery: Delivery, { number, startedAt, durationMs }: Attempt): string {
  const { nextAttemptAt, attempts } = delivery
  if (nextAttemptAt === undefined || attempts !== number) return ''
  const waitMs = Date.parse(nextAttemptAt) - Date.parse(startedAt) - durationMs
  return `, again in ${(Math.max(0, waitMs) / 1000).toFixed(1)} s`
}

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

const defaultRetryMs = 1_000

/**
 * Prints changes of deliveries from the server's feed, until interrupted. It connects again after a broken connection,
 * and continues at its cursor.
 *
 * @param query.after time of the first change; default: now
 * @throws ApiError when the server refuses this reader; AnnexError `unavailable` when the first connection fails
 */
export async function followFeed({ api, terminal }: Session, query: FollowDeliveriesQuery): Promise<void> {
  let cursor: string | undefined
  let retryMs = defaultRetryMs
  let isDisconnected = false
  const setCursor = (id: string) => {
    cursor = id
    isDisconnected = false
  }
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (isFirst) terminal.say('Waiting for deliveries. Ctrl+C ends this.')
      const headers = { accept: 'text/event-stream', ...(cursor && { 'last-event-id': cursor }) }
      const { body } = await api.long.open('GET /v1/deliveries/feed', { query, headers })
      for await (const { event, data, ...stream } of readServerEvents(body, setCursor)) {
        retryMs = stream.retryMs ?? retryMs
        if (stream.lastEventId !== '') setCursor(stream.lastEventId)
        if (event === 'end') terminal.say(`The feed has ended: ${JSON.parse(data).reason}`)
        else printFeedItem(terminal, JSON.parse(data) as FeedItem)
      }
    } catch (error) {
      if (isFirst ? isApiError(error) || isAnnexError(error) : isRefusal(error)) throw error
      if (!isDisconnected) terminal.say(`${messageOf(error)} Trying again.`)
      isDisconnected = true
    }
    await sleep(retryMs)
  }
}

/** A 5xx answer is temporary: from a proxy while Annex starts, or from Annex while it stops. */
const isRefusal = (error: unknown): boolean => isApiError(error) && error.status < 500
