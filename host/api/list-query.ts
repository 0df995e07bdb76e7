import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import type { Operation } from '../../schemas/list-operations.ts'
import { parseDate } from '../../schemas/parse-date.ts'
import type { AccountCaller, Caller } from '../access/tokens.ts'
import type { PageAt, Span } from '../db/page.ts'
import { AnnexError } from '../errors.ts'

/** A text of a caller, short enough for a message. */
export const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** Aborted when the connection of a request is closed. */
export function closedSignal({ res }: Context): AbortSignal {
  const gone = new AbortController()
  // The client may have left while its token was checked.
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

/** Above it a page is cut. */
const maxItems = 1000

/** A request for a page of a list. The query has filters beside `limit` and `page`. */
export type ListRequest = {
  operation: Pick<Operation, 'id'>
  caller: Caller | AccountCaller
  params: object
  query: { limit: number; page?: string }
}

/** An id such as `dlv_0199…` as the cursor of a list. */
export const idCursor = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-9a-f-]{36}$`)
export const numberCursor = /^\d{1,15}$/
export const nameCursor = /^[\w-]{1,100}$/

type List<Item, View> = {
  /** The form of a cursor. A forged page has another one. */
  cursor: RegExp
  cursorOf: (item: Item) => string
  read: (at: PageAt) => Promise<Item[]>
  toView: (item: Item) => View | Promise<View>
}

export type ListAnswer<View> = { items: View[]; next?: { page: string }; count: number }

/**
 * Answers a page of a list. Each item is read after the cursor of another, so a list that changes meanwhile repeats and skips
 * no item that stays. `next.page` is there when more items follow.
 *
 * @throws AnnexError `bad_request` for a `page` that is not of this list
 */
export async function listPage<Item, View>(
  request: ListRequest,
  { cursor, cursorOf, read, toView }: List<Item, View>,
): Promise<ListAnswer<View>> {
  const list = nameOf(request)
  const limit = Math.min(request.query.limit, maxItems)
  // One more than asked tells whether a page follows.
  const found = await read({ after: readCursor(request.query.page, list, cursor), limit: limit + 1 })
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return {
    items: await Promise.all(items.map(toView)),
    ...(last !== undefined && { next: { page: toPage(list, cursorOf(last)) } }),
    count: items.length,
  }
}

/** Differs for each operation, path, set of filters, and organization or script that reads. */
function nameOf({ operation, caller, params, query }: ListRequest): string {
  const filters = Object.entries(query).filter(([name]) => !changing.has(name))
  return JSON.stringify([operation.id, readerOf(caller), params, filters.sort()])
}

/** The command line sends "two hours ago" as another time for each page. */
const changing: ReadonlySet<string> = new Set(['limit', 'page', 'before', 'after', 'since', 'until'])

function readerOf(caller: Caller | AccountCaller): string {
  if (caller.kind === 'operator') return 'operator'
  if (caller.kind === 'organization') return caller.organizationId
  if (caller.kind === 'account') return caller.accountId
  return caller.kind === 'installation' ? caller.installationId : caller.integration
}

/**
 * A page is a mark and a cursor. The mark shows a page of another list, or an altered one. It is no secret: a cursor only says
 * where the caller's own list goes on.
 */
const toPage = (list: string, cursor: string): string =>
  Buffer.from(markOf(list, cursor) + cursor).toString('base64url')

const markLength = 16

const markOf = (list: string, cursor: string): string =>
  createHash('sha256').update(`${list}\n${cursor}`).digest('base64url').slice(0, markLength)

function readCursor(page: string | undefined, list: string, form: RegExp): string | undefined {
  if (page === undefined) return undefined
  const text = Buffer.from(page, 'base64url').toString()
  const cursor = text.slice(markLength)
  if (form.test(cursor) && text === markOf(list, cursor) + cursor) return cursor
  throw new AnnexError(
    'bad_request',
    `"${clip(page)}" is no page of this list. Send \`next.page\` of the page before, to the same address with the same filters.`,
  )
}

/**
 * Parses a time of a query or body, in Unix ms.
 *
 * @throws AnnexError `bad_request`
 */
export function timeOf(name: string, text: string): number {
  const ms = parseDate(text)
  if (!Number.isNaN(ms)) return ms
  throw new AnnexError('bad_request', `${name} is a time such as 2026-01-01T00:00:00.000Z, not "${text}".`)
}

/**
 * Reads the span of time of a list: from `since` on, and before `until`.
 *
 * @throws AnnexError `bad_request`
 */
export const spanOf = ({ since, until }: { since?: string; until?: string }): Span => ({
  ...(since !== undefined && { sinceMs: timeOf('since', since) }),
  ...(until !== undefined && { untilMs: timeOf('until', until) }),
})

/** A time in an answer, from Unix ms. */
export const toIso = (ms: number): string => new Date(ms).toISOString()

export const toIsoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms))

/** For how long history is kept, in the answer of a list. */
export const retentionOf = ({
  RETENTION_DAYS: retentionDays,
}: {
  RETENTION_DAYS: number
}): {
  retentionDays?: number
} => (retentionDays > 0 ? { retentionDays } : {})
