/**
 * Stores what publishers bring while the last call is under way in one call more, so that a peer pays for a commit
 * as seldom as Annex does. Each publisher waits for the call that has stored its own.
 */
export function storeInGroups<T>(store: (items: T[]) => Promise<unknown>): (items: T[]) => Promise<void> {
  let waiting: T[] = []
  let next: Promise<void> | undefined
  let underWay: Promise<unknown> = Promise.resolve()
  const storeWaiting = async () => {
    await underWay.catch(() => {})
    const items = waiting
    waiting = []
    next = undefined
    underWay = store(items)
    await underWay
  }
  return (items) => {
    waiting.push(...items)
    next ??= storeWaiting()
    return next
  }
}
