import { setTimeout as sleep } from 'node:timers/promises'
import { firstIdAt } from '../../db/ids.ts'
import { type Asker, inTurn } from '../../db/looks/turns.ts'
import { rowsOfLook } from '../../db/looks/window.ts'
import type { Database } from '../../db/open-database.ts'
import {
  type FeedItem,
  type FeedLook,
  type FeedPlace,
  placeOf,
  readFeed,
  settledUpTo,
} from '../../db/queries/operating/feed.ts'
import type { DeliveryFilter } from '../../db/queries/operating/list-deliveries.ts'
import type { Changes } from './changes.ts'

/** Items of one look. */
const pageSize = 100
/** Between two looks, so that a busy host is not asked all the time. */
const pauseMs = 100
/** Without a sign of a change: other hosts give none. */
const pollMs = 1_000

/** The place of what happens at a time. */
export const placeAt = (ms: number): FeedPlace => placeOf({ id: firstIdAt('att', ms) })

/**
 * What happens to deliveries, from a place on, as it happens. All of it comes from the tables: what a host does, what
 * others do and what was missed look the same, and a reader that is slow holds nothing but its place.
 *
 * @param from where to begin; default: now
 * @param asker once it has left, the database, which may be closed by then, is asked nothing more
 * @yields the items of a look, none when nothing that fits has happened for a second, or among many
 */
export async function* followDeliveries(
  { db, longReader }: Pick<Database, 'db' | 'longReader'>,
  changes: Changes,
  asker: Asker & { gone: AbortSignal },
  filter: DeliveryFilter,
  from?: FeedPlace,
): AsyncGenerator<FeedItem[]> {
  let after = from ?? placeAt(Date.now())
  let before = after
  let rows = rowsOfLook(db, true)
  let isFurther = false
  while (!asker.gone.aborted) {
    // What is far behind is settled: whoever stores is not waited for again and again.
    if (!isFurther) before = placeAt(await settledUpTo(db))
    if (asker.gone.aborted) return
    // The clock was set back: what happens from now on is before the place.
    if (after > placeAt(Date.now() + 1)) after = before
    const look = (): Promise<FeedLook> =>
      readFeed(longReader, filter, { after, before, limit: pageSize, rows })
    const looked: FeedLook | undefined = isFurther ? await inTurn(longReader, asker, look) : await look()
    if (looked === undefined) return
    const { items, reached }: FeedLook = looked
    if (reached !== undefined) after = reached
    else if (before > after) after = before
    yield items
    isFurther = reached !== undefined
    // Nothing that fits among so many: it may be far.
    rows = rowsOfLook(db, !isFurther || items.length > 0)
    if (isFurther) continue
    await changes.next(pollMs)
    await sleep(pauseMs)
  }
}
