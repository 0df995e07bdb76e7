import type { Context } from 'koa'
import { parseDate } from '../../schemas/parse-date.ts'
import { AnnexError } from '../errors.ts'
import type { Person } from './caller.ts'

/** Limits a list to the caller's organization. An operator sees all. */
export const ownOf = (caller: Person): { organizationId?: string } =>
  caller.kind === 'operator' ? {} : { organizationId: caller.organizationId }

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

/** A page that a query asks for. */
export type PageQuery = { limit: number; page?: string }

/** Where a page is read: after the place of the last item of the page before. */
type PageAt = { after: string | undefined; limit: number }

/** An id such as `dlv_0199…` as the place in a list. */
export const idPlace = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-9a-f-]{36}$`)
export const numberPlace = /^\d{1,15}$/
/** A list whose places have no common form. */
export const textPlace = /^[^\0]{1,300}$/

type List<Item, View> = {
  /** The form of a place. The text of another list, or a forged one, is refused. */
  place: RegExp
  placeOf: (item: Item) => string
  read: (at: PageAt) => Promise<Item[]> | Item[]
  toView: (item: Item) => View | Promise<View>
}

type ListAnswer<View> = { items: View[]; next?: { page: string }; count: number }

/**
 * Answers a page of a list. Each item is read after the place of another, so a list that changes meanwhile repeats and skips
 * no item that stays. `next.page` is there when more items follow.
 *
 * @throws AnnexError `bad_request` for a `page` that is not of this list
 */
export async function listPage<Item, View>(
  query: PageQuery,
  { place, placeOf, read, toView }: List<Item, View>,
): Promise<ListAnswer<View>> {
  const limit = Math.min(query.limit, maxItems)
  // One more than asked tells whether a page follows.
  const found = await read({ after: placeIn(query.page, place), limit: limit + 1 })
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return {
    items: await Promise.all(items.map(toView)),
    ...(last !== undefined && { next: { page: Buffer.from(placeOf(last)).toString('base64url') } }),
    count: items.length,
  }
}

function placeIn(page: string | undefined, place: RegExp): string | undefined {
  if (page === undefined) return undefined
  const text = Buffer.from(page, 'base64url').toString()
  if (place.test(text)) return text
  throw new AnnexError(
    'bad_request',
    `"${clip(page)}" is no page of this list. Send \`next.page\` of the page before, with the same filters.`,
  )
}

/** As `listPage`, of records that were read as a whole. They are sorted by ascending place. */
export function listWhole<Item, View>(
  query: PageQuery,
  all: readonly Item[],
  list: Omit<List<Item, View>, 'read'>,
): Promise<ListAnswer<View>> {
  const { placeOf } = list
  const sorted = all.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  const read = ({ after, limit }: PageAt) =>
    sorted.filter((item) => after === undefined || placeOf(item) > after).slice(0, limit)
  return listPage(query, { ...list, read })
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

/** A time in an answer, from Unix ms. */
export const toIso = (ms: number): string => new Date(ms).toISOString()
