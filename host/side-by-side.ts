/** A piece of work that takes longer gives its slot to the next one. It goes on beside the others. */
const patienceMs = 5_000
const mostAtOnce = 16

/**
 * Works on all items, on `slots` of them at once. A slow one holds up no other: after a while it does not count.
 *
 * @returns the results in the order of the items
 * @throws the first error of `work`, when the running work has ended
 */
export function sideBySide<Item, Result>(
  items: readonly Item[],
  slots: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Result[]>()
  const results: Result[] = []
  const errors: unknown[] = []
  let [next, holding, running] = [0, 0, 0]
  beginMore()
  return promise

  function beginMore(): void {
    while (errors.length === 0 && holding < slots && running < mostAtOnce && next < items.length) {
      void begin(next)
      next += 1
    }
    if (running > 0) return
    if (errors.length > 0) reject(errors[0])
    else resolve(results)
  }

  async function begin(index: number): Promise<void> {
    holding += 1
    running += 1
    let isHolding = true
    const release = () => {
      if (isHolding) holding -= 1
      isHolding = false
    }
    const timer = setTimeout(() => {
      release()
      beginMore()
    }, patienceMs)
    try {
      results[index] = await work(items[index] as Item)
    } catch (error) {
      errors.push(error)
    } finally {
      clearTimeout(timer)
      release()
      running -= 1
      beginMore()
    }
  }
}
