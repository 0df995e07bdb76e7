import { Readable } from 'node:stream'
import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import type { FeedCursor, FeedItem } from '../db/queries/delivery-feed.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { type Changes, cursorAt, followDeliveries } from '../webhooks/follow-deliveries.ts'
import type { Authenticate } from './caller.ts'
import { filterOf, toAttempt, toDelivery } from './deliveries.ts'
import { closedSignal, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

/** Limits of readers: for one organization (or for all operators), and for all. */
const mostOfOne = 32
const mostInAll = 128
const checkTokenMs = 5_000
const keepAliveMs = 15_000
/** A reader that reads nothing for as long is disconnected. It can resume after its last event. */
const readTimeoutMs = 30_000
/** The delay before a reader reconnects. */
const retryMs = 1_000

type FeedParts = {
  db: Db
  longReader: Db
  authenticate: Authenticate
  /** Tells when deliveries have changed. */
  changes: Changes
  state: () => { stopping: boolean }
}

/** The live feed of deliveries. */
export function addFeedRoutes(on: OnOperation, parts: FeedParts): void {
  const readers = createReaders()

  on('GET /v1/deliveries/feed', async ({ caller, query, context }) => {
    const { sinceMs, ...filter } = await filterOf(parts.db, caller, query)
    const from = readCursor(context) ?? cursorAt(sinceMs ?? Date.now())
    const gone = closedSignal(context)
    if (gone.aborted) return
    const leave = readers.enter(caller.kind === 'operator' ? 'operators' : caller.organizationId)
    gone.addEventListener('abort', leave)
    const pages = followDeliveries(parts, parts.changes, gone, filter, from)
    const stream = Readable.from(endStalled(context, toEvents(parts, context, from, pages)))
    context.type = 'text/event-stream'
    // Without this header nginx buffers events.
    context.set('x-accel-buffering', 'no')
    context.body = stream
  })
}

/** @throws AnnexError `bad_request` */
function readCursor(context: Context): string | undefined {
  const id = context.get('last-event-id')
  if (id === '') return undefined
  // The id of an item, or its first part: a time.
  const cursor = /^(?:dlv|att|ref)_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{0,22})$/.exec(id)?.[1]
  if (cursor !== undefined) return cursor
  throw new AnnexError('bad_request', 'Last-Event-ID is not an id of this feed.')
}

async function* toEvents(
  { authenticate, state }: Pick<FeedParts, 'authenticate' | 'state'>,
  context: Context,
  from: FeedCursor,
  pages: AsyncIterable<FeedItem[]>,
): AsyncGenerator<string> {
  // With this id a reader that is disconnected before the first event can resume.
  yield `retry: ${retryMs}\nid: att_${from}\n\n`
  let checkedAt = performance.now()
  let sentAt = checkedAt
  for await (const items of pages) {
    const now = performance.now()
    if (state().stopping) return yield toServerEvent({ event: 'end', data: { reason: 'Annex is stopping.' } })
    if (now - checkedAt > checkTokenMs) {
      const reason = await reasonToEnd(authenticate, context)
      if (reason !== undefined) return yield toServerEvent({ event: 'end', data: { reason } })
      checkedAt = now
    }
    const text = items.map(toText).join('')
    if (text === '' && now - sentAt < keepAliveMs) continue
    sentAt = now
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

/** Only the last event of an item has the id: a reader that resumes after it has seen the whole item. */
function toText(item: FeedItem): string {
  const { id } = item
  const delivery = toDelivery(item.delivery)
  const { state, attempts, refusedId } = item.delivery
  const settled = toServerEvent({ event: 'settled', data: { kind: 'settled', delivery }, id })
  if (item.kind === 'refused') return settled
  // A refusal settles its delivery, whatever attempts came before.
  const isLast = refusedId === null && attempts === (item.kind === 'attempt' ? item.attempt.number : 0)
  const isSettled = isLast && state !== 'pending'
  const data =
    item.kind === 'pending'
      ? { kind: item.kind, delivery }
      : {
          kind: item.kind,
          delivery,
          attempt: toAttempt(item.attempt),
          ...(item.previousStartedAt !== null && {
            previousStartedAt: toIso(item.previousStartedAt),
          }),
        }
  const first = toServerEvent({ event: item.kind, data, ...(!isSettled && { id }) })
  if (!isSettled) return first
  return first + settled
}

/** Closes the connection of a reader that does not read. */
async function* endStalled(context: Context, texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    const timer = setTimeout(() => context.res.destroy(), readTimeoutMs)
    try {
      yield text
    } finally {
      clearTimeout(timer)
    }
  }
}

function createReaders(): { enter: (group: string) => () => void } {
  const counts = new Map<string, number>()
  let all = 0
  return {
    enter(group) {
      const count = counts.get(group) ?? 0
      if (count >= mostOfOne || all >= mostInAll) {
        throw new AnnexError('too_many_readers', 'Too many readers follow the live feed. End one first.')
      }
      counts.set(group, count + 1)
      all += 1
      return () => {
        const left = (counts.get(group) ?? 1) - 1
        if (left === 0) counts.delete(group)
        else counts.set(group, left)
        all -= 1
      }
    },
  }
}

/** An event as text of a `text/event-stream` (WHATWG HTML, 9.2). `data` becomes JSON on one line. */
export function toServerEvent(given: { event: string; data: unknown; id?: string }): string {
  const { event, data, id } = given
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** A comment that keeps a quiet connection open: proxies end connections without data. */
export const keepAlive = ':\n\n'
