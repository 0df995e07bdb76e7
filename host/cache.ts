import { LRUCache } from 'lru-cache'

/** A change on another host is seen this much later when its notification is lost. */
const freshMs = 1_000
const maxEntries = 10_000

export type CachedReads<Query, Value> = {
  get: (query: Query) => Promise<Value>
  /** Empties the cache: a record has changed. */
  forget: () => void
}

/**
 * Caches reads of the database for one second. Equal reads share one query. A missing record is not cached.
 *
 * @param given.cachesError true for an error to cache. Default: errors are not cached.
 */
export function cacheReads<Query, Value>(given: {
  keyOf: (query: Query) => string
  read: (query: Query) => Promise<Value>
  cachesError?: (error: unknown) => boolean
}): CachedReads<Query, Value> {
  const { keyOf, read, cachesError = () => false } = given
  // With a coarser clock, lru-cache starts a timer in each millisecond.
  const cache = createLru<Promise<Value>>(maxEntries, { ttl: freshMs, ttlResolution: 0 })
  return {
    get(query) {
      const key = keyOf(query)
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const value = read(query)
      cache.set(key, value)
      const drop = () => {
        if (cache.peek(key) === value) cache.delete(key)
      }
      value.then(
        (found) => found === undefined && drop(),
        (error) => cachesError(error) || drop(),
      )
      return value
    },
    forget: () => cache.clear(),
  }
}

/**
 * Keeps the entries that were used last. They are counted as a size: for its option `max`, lru-cache makes a table of that many
 * rows at once, and empties each of them in a clear.
 */
export const createLru = <Value extends object | string | number | true>(
  most: number,
  options: { ttl?: number; ttlResolution?: number; perf?: { now: () => number } } = {},
): LRUCache<string, Value> =>
  new LRUCache<string, Value>({ maxSize: most, sizeCalculation: () => 1, ...options })
