import type { Knex } from 'knex'
import { firstIdAt, type IdPrefix } from './ids.ts'

/** A page of a list: up to `limit` rows after the cursor of the page before. */
export type PageAt = { after: string | undefined; limit: number }

/** Takes a page in the order of a unique column. */
export function inPage(
  query: Knex.QueryBuilder,
  column: string,
  { after, limit }: PageAt,
): Knex.QueryBuilder {
  if (after !== undefined) query.where(column, '>', after)
  return query.orderBy(column).limit(limit)
}

/** Reads a list page by page. `readPage` gets the last item of the page before. Empty pages are left out. */
export async function* eachPage<Item>(
  limit: number,
  readPage: (last?: Item) => Promise<Item[]>,
): AsyncGenerator<Item[]> {
  for (let last: Item | undefined, more = true; more; ) {
    const page: Item[] = await readPage(last)
    if (page.length > 0) yield page
    last = page.at(-1)
    more = page.length === limit
  }
}

/** From the first time on, and before the second, in Unix ms. */
export type Span = { sinceMs?: number; untilMs?: number }

/** Limits a query to a span of time. */
export function inSpan(
  query: Knex.QueryBuilder,
  column: string | Knex.Raw,
  { sinceMs, untilMs }: Span,
): Knex.QueryBuilder {
  if (sinceMs !== undefined) query.where(column as string, '>=', sinceMs)
  if (untilMs !== undefined) query.where(column as string, '<', untilMs)
  return query
}

/** An id's time may differ a little from the time of its record. */
const slackMs = 1_000

/** Limits a query to the ids of a span, so that their index finds the rows. Ids are in the order of time. */
export const inSpanOfIds = (
  query: Knex.QueryBuilder,
  column: string,
  prefix: IdPrefix,
  { sinceMs, untilMs }: Span,
): Knex.QueryBuilder => {
  if (sinceMs !== undefined) query.where(column, '>=', firstIdAt(prefix, sinceMs - slackMs))
  if (untilMs !== undefined) query.where(column, '<', firstIdAt(prefix, untilMs + slackMs))
  return query
}
