/** Stores buffered items together after a delay, as a commit for each item would be slow. */
export type WriteBehind = {
  /** Starts the delay for a new item. */
  note: () => void
  /** Stores the items so far. Settles when they are stored. */
  flush: () => Promise<void>
  /** Stores the items so far, and stops the timer. */
  close: () => Promise<void>
}

/** @param store is called again only after its last call has settled. Its errors go to `onDefect`. */
export function createWriteBehind(
  store: () => Promise<void>,
  afterMs: number,
  onDefect: (error: unknown) => void,
): WriteBehind {
  let storing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  return {
    note() {
      timer ??= setTimeout(flush, afterMs)
    },
    flush,
    async close() {
      await flush()
      clearTimeout(timer)
    },
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    storing = storing.then(store).catch(onDefect)
    return storing
  }
}
