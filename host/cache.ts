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
  const cache = new Map<string, { value: Promise<Value>; untilMs: number }>()
  return {
    get(query) {
      const key = keyOf(query)
      const cached = cache.get(key)
      if (cached !== undefined && cached.untilMs > performance.now()) return cached.value
      if (cache.size >= maxEntries) cache.clear()
      const entry = { value: read(query), untilMs: performance.now() + freshMs }
      cache.set(key, entry)
      const drop = () => {
        if (cache.get(key) === entry) cache.delete(key)
      }
      entry.value.then(
        (value) => value === undefined && drop(),
        (error) => cachesError(error) || drop(),
      )
      return entry.value
    },
    forget: () => cache.clear(),
  }
}

/** Stores an entry as the newest of a map, and removes the oldest entry over `maxSize`. */
export function storeNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, maxSize: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maxSize) return
  const [oldest = key] = map.keys()
  map.delete(oldest)
}
