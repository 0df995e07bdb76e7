/** Stores what has come in together with what comes soon after it: a commit for each would cost more than all else. */
export type WriteBehind = {
  /** Something has come in. */
  note: () => void
  /** Settles when all that has come in so far is stored. */
  flush: () => Promise<void>
  /** Stores it, and nothing that comes in later. */
  close: () => Promise<void>
}

/** @param store is never called before its last call has settled; what it throws goes to `onDefect` */
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
