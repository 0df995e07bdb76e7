/** How long a reading is used again. A change made on another host is seen this much later, should its hint be lost. */
const keepMs = 1_000
const mostKept = 10_000

export type KeptReadings<Asked, Value> = {
  get: (asked: Asked) => Promise<Value>
  /** Forgets what was read: a record has changed. */
  forget: () => void
}

/**
 * Reads records once a second rather than once a request. A reading under way is shared; that there is nothing is not kept.
 *
 * @param given.keepsError whether an error is kept as well. Default: none.
 */
export function keepReadings<Asked, Value>(given: {
  keyOf: (asked: Asked) => string
  read: (asked: Asked) => Promise<Value>
  keepsError?: (error: unknown) => boolean
}): KeptReadings<Asked, Value> {
  const { keyOf, read, keepsError = () => false } = given
  const kept = new Map<string, { reading: Promise<Value>; untilMs: number }>()
  return {
    get(asked) {
      const key = keyOf(asked)
      const found = kept.get(key)
      if (found !== undefined && found.untilMs > performance.now()) return found.reading
      if (kept.size >= mostKept) kept.clear()
      const made = { reading: read(asked), untilMs: performance.now() + keepMs }
      kept.set(key, made)
      const drop = () => {
        if (kept.get(key) === made) kept.delete(key)
      }
      made.reading.then(
        (value) => value === undefined && drop(),
        (error) => keepsError(error) || drop(),
      )
      return made.reading
    },
    forget: () => kept.clear(),
  }
}
