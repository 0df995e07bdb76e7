import type { Db } from '../../db/db.ts'
import {
  type DeliveryFilter,
  type ListedDelivery,
  lookForDeliveries,
} from '../../db/queries/operating/list-deliveries.ts'
import { lookOn } from './look-on.ts'

/**
 * Deliveries that fit a filter, the newest first.
 *
 * @param page.before the id of a delivery: only those that come after it in the list
 * @param gone aborted when whoever asked has left
 */
export async function findDeliveries(
  db: Db,
  filter: DeliveryFilter,
  page: { before: string | undefined; limit: number },
  gone: AbortSignal,
): Promise<ListedDelivery[]> {
  const found: ListedDelivery[] = []
  let { before } = page
  const look = async (rows: number | undefined) => {
    const limit = page.limit - found.length
    const { items, reached } = await lookForDeliveries(db, filter, { before, limit, rows })
    found.push(...items)
    before = reached
    return reached !== undefined && found.length < page.limit
  }
  await lookOn(db, look, gone)
  return found
}
