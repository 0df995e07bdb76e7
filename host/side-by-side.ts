/** A piece of work that takes longer gives its place to the next one. It goes on beside the others. */
const patienceMs = 5_000
const mostAtOnce = 16

/**
 * Works on all items, on `places` of them at once. A slow one holds up no other: after a while it does not count.
 *
 * @returns the results in the order of the items
 * @throws the first error of `work`, when the running work has ended
 */
export function sideBySide<Item, Result>(
  items: readonly Item[],
  places: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Result[]>()
  const results: Result[] = []
  const errors: unknown[] = []
  let [next, inPlaces, running] = [0, 0, 0]
  beginMore()
  return promise

  function beginMore(): void {
    while (errors.length === 0 && inPlaces < places && running < mostAtOnce && next < items.length) {
      void begin(next)
      next += 1
    }
    if (running > 0) return
    if (errors.length > 0) reject(errors[0])
    else resolve(results)
  }

  async function begin(index: number): Promise<void> {
    inPlaces += 1
    running += 1
    let hasPlace = true
    const leavePlace = () => {
      if (hasPlace) inPlaces -= 1
      hasPlace = false
    }
    const timer = setTimeout(() => {
      leavePlace()
      beginMore()
    }, patienceMs)
    try {
      results[index] = await work(items[index] as Item)
    } catch (error) {
      errors.push(error)
    } finally {
      clearTimeout(timer)
      leavePlace()
      running -= 1
      beginMore()
    }
  }
}
