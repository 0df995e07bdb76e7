/**
 * For telling a disk to take what was committed: one run covers all that was there when it began. Whoever asks while one is under
 * way waits for the next, and all who do have that one in common.
 */
export function shareNext(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  return () => {
    if (running === undefined) return begin()
    next ??= running.then(begin, begin)
    return next
  }

  function begin(): Promise<void> {
    next = undefined
    const begun = run().finally(() => {
      running = undefined
    })
    running = begun
    return begun
  }
}
