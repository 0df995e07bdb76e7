import type { Knex } from 'knex'

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
