import { Readable } from 'node:stream'
import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import type { FeedItem, FeedPlace } from '../db/queries/operating/feed.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import type { Changes } from '../webhooks/operating/changes.ts'
import { followDeliveries, placeAt } from '../webhooks/operating/follow-deliveries.ts'
import type { Authenticate } from './caller.ts'
import { filterOf } from './delivery-query.ts'
import { toAttemptView, toDeliveryView } from './delivery-view.ts'
import { askerOf } from './list-query.ts'
import { keepAlive, toServerEvent } from './server-event.ts'

/** Readers at once: of one organization (or of all operators), and in all. */
const mostOfOne = 8
const mostInAll = 32
const checkTokenMs = 5_000
const keepAliveMs = 15_000
/** A reader that takes nothing for as long is cut off; it goes on from its last event when it comes back. */
const patienceMs = 30_000
/** How long a reader waits before it comes back. */
const retryMs = 1_000

export type FeedParts = {
  db: Db
  longReader: Db
  authenticate: Authenticate
  /** Tells when deliveries have changed. */
  changes: Changes
  state: () => { stopping: boolean }
}

/** What happens to deliveries, as it happens. */
export function addFeedRoutes(router: Router, parts: FeedParts): void {
  const readers = createReaders()

  /**
   * Server-sent events: `owed` (a delivery is owed), `attempt` (with its delivery), `settled` (a delivery is delivered or
   * has failed, perhaps without an attempt: `delivery.reason` says why), and `end` with a `reason` when Annex stops or the token is no longer good. Filters as for
   * `GET /v1/deliveries`. It begins now, at the time `after`, or after the event that `Last-Event-ID` names, and says first where that is, as an `id`
   * without an event. 503 when there
   * are too many readers.
   */
  router.get('/v1/deliveries/feed', async (context) => {
    const caller = await parts.authenticate(context)
    const { before: _place, beforeMs: _time, afterMs, ...filter } = filterOf(caller, context.query)
    const from = placeIn(context) ?? placeAt(afterMs ?? Date.now())
    const asker = askerOf(context, filter)
    if (asker.gone.aborted) return
    const leave = readers.enter(asker.line)
    asker.gone.addEventListener('abort', leave)
    const items = followDeliveries(parts, parts.changes, asker, filter, from)
    const stream = Readable.from(cutOff(context, say(parts, context, from, items)))
    context.type = 'text/event-stream'
    // Of nginx: it would keep events back until it has many.
    context.set('x-accel-buffering', 'no')
    context.body = stream
  })
}

/** @throws AnnexError `bad_request` */
function placeIn(context: Context): string | undefined {
  const id = context.get('last-event-id')
  if (id === '') return undefined
  // That of an item, or the beginning of one: a time.
  const place = /^(?:dlv|att|ref)_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{0,22})$/.exec(id)?.[1]
  if (place !== undefined) return place
  throw new AnnexError('bad_request', 'Last-Event-ID is none that this feed has given.')
}

async function* say(
  { authenticate, state }: Pick<FeedParts, 'authenticate' | 'state'>,
  context: Context,
  from: FeedPlace,
  looks: AsyncIterable<FeedItem[]>,
): AsyncGenerator<string> {
  // An id without an event: whoever is cut off before the first one has a place to go on from.
  yield `retry: ${retryMs}\nid: att_${from}\n\n`
  let checkedAt = performance.now()
  let saidAt = checkedAt
  for await (const items of looks) {
    const now = performance.now()
    if (state().stopping) return yield toServerEvent({ event: 'end', data: { reason: 'Annex is stopping.' } })
    if (now - checkedAt > checkTokenMs) {
      const reason = await reasonToEnd(authenticate, context)
      if (reason !== undefined) return yield toServerEvent({ event: 'end', data: { reason } })
      checkedAt = now
    }
    const text = items.map(toText).join('')
    if (text === '' && now - saidAt < keepAliveMs) continue
    saidAt = now
    yield text === '' ? keepAlive : text
  }
}

async function reasonToEnd(authenticate: Authenticate, context: Context): Promise<string | undefined> {
  try {
    await authenticate(context)
    return undefined
  } catch (error) {
    if (isAnnexError(error)) return error.message
    throw error
  }
}

/** The id comes with the last event of an item: whoever comes back with it has seen all of it. */
function toText(item: FeedItem): string {
  const { id } = item
  const delivery = toDeliveryView(item.delivery)
  const { state, attempts, refusedId } = item.delivery
  const settled = toServerEvent({ event: 'settled', data: { kind: 'settled', delivery }, id })
  if (item.kind === 'refused') return settled
  // One that was refused is settled by that, whatever was tried before.
  const isLast = refusedId === null && attempts === (item.kind === 'attempt' ? item.attempt.number : 0)
  const isSettled = isLast && state !== 'owed'
  const data =
    item.kind === 'owed'
      ? { kind: item.kind, delivery }
      : {
          ...{ kind: item.kind, delivery, attempt: toAttemptView(item.attempt) },
          ...(item.previousStartedAt !== null && {
            previousStartedAt: new Date(item.previousStartedAt).toISOString(),
          }),
        }
  const first = toServerEvent({ event: item.kind, data, ...(!isSettled && { id }) })
  if (!isSettled) return first
  return first + settled
}

/** Breaks the connection of a reader that does not take what it is given. */
async function* cutOff(context: Context, texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    const timer = setTimeout(() => context.res.destroy(), patienceMs)
    try {
      yield text
    } finally {
      clearTimeout(timer)
    }
  }
}

function createReaders(): { enter: (line: string) => () => void } {
  const counts = new Map<string, number>()
  let all = 0
  return {
    enter(line) {
      const count = counts.get(line) ?? 0
      if (count >= mostOfOne || all >= mostInAll) {
        throw new AnnexError(
          'too_many_readers',
          'As many as may read the live feed already do: end one first.',
        )
      }
      counts.set(line, count + 1)
      all += 1
      return () => {
        const left = (counts.get(line) ?? 1) - 1
        if (left === 0) counts.delete(line)
        else counts.set(line, left)
        all -= 1
      }
    },
  }
}
