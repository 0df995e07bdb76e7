import { setTimeout as sleep } from 'node:timers/promises'
import { firstIdAt } from '../db/ids.ts'
import type { Database } from '../db/open-database.ts'
import {
  cursorOf,
  type FeedCursor,
  type FeedItem,
  readFeed,
  settledUpTo,
} from '../db/queries/delivery-feed.ts'
import type { DeliveryFilter } from '../db/queries/list-deliveries.ts'

const pageSize = 100
/** Pause between two polls: the changes of a busy host share a poll. */
const pauseMs = 100
/** Other hosts do not notify this host of changes. */
const pollMs = 1_000

/** The cursor of items that are created at a time. */
export const cursorAt = (ms: number): FeedCursor => cursorOf({ id: firstIdAt('att', ms) })

/**
 * Follows changes of deliveries from a cursor on. The tables are its only source: it shows the changes of all hosts, a reader
 * that reconnects misses no item, and a slow reader takes no memory.
 *
 * @param gone aborted when the reader has left. No query follows, as the database may be closed
 * @param from default: now
 * @yields a page of items. After a second without items the page is empty.
 */
export async function* followDeliveries(
  { db, longReader }: Pick<Database, 'db' | 'longReader'>,
  changes: Changes,
  gone: AbortSignal,
  filter: DeliveryFilter,
  from?: FeedCursor,
): AsyncGenerator<FeedItem[]> {
  let after = from ?? cursorAt(Date.now())
  let upTo = after
  let isBehind = false
  while (!gone.aborted) {
    // A reader that is behind first reads the items up to the last `upTo`.
    if (!isBehind) upTo = cursorAt(await settledUpTo(db))
    if (gone.aborted) return
    // The clock was set back: new items come before the cursor.
    if (after > cursorAt(Date.now() + 1)) after = upTo
    const items = await readFeed(longReader, filter, { after, upTo, limit: pageSize })
    const last = items.at(-1)
    isBehind = items.length === pageSize
    if (isBehind && last !== undefined) after = cursorOf(last)
    else if (upTo > after) after = upTo
    yield items
    if (isBehind) continue
    await changes.next(pollMs)
    await sleep(pauseMs)
  }
}

/** Wakes the readers of the feed after a change. The readers then query the database. */
export type Changes = {
  notify: () => void
  /** Settles at the next change, or after `ms`. */
  next: (ms: number) => Promise<void>
}

export function createChanges(): Changes {
  const waiting = new Set<() => void>()
  return {
    notify() {
      for (const settle of waiting) settle()
    },
    next: (ms) =>
      new Promise((resolve) => {
        const settle = () => {
          clearTimeout(timer)
          waiting.delete(settle)
          resolve()
        }
        const timer = setTimeout(settle, ms)
        waiting.add(settle)
      }),
  }
}
