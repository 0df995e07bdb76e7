import { setImmediate as nextTurn } from 'node:timers/promises'
import { stoppingError } from '../errors.ts'
import type { Db } from './db.ts'
import { explainStorageError, isDeadlock } from './errors.ts'
import { transact } from './sql.ts'

/**
 * One kind of write. All items that wait for the same commit are written by one call, in one statement where possible: a
 * commit costs the same for one row and for a hundred.
 *
 * @returns a result for each item, in their order
 */
export type Step<Item, Result> = (transaction: Db, items: readonly Item[]) => Promise<readonly Result[]>

export type GroupCommit = {
  /** Stores an item. Resolves when its commit is durable. */
  store: <Item, Result>(step: Step<Item, Result>, item: Item) => Promise<Result>
  /** Stores the waiting items, and refuses later ones. */
  close: () => Promise<void>
}

type Waiting = {
  step: Step<unknown, unknown>
  item: unknown
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** Larger groups save nothing: the cost of a commit is small for 256 items, and the first items would wait longer. */
const groupSize = 256

/**
 * Commits in groups: while one transaction is under way, the next group gathers.
 *
 * An item that cannot be stored must not take others with it. When a group fails, each of its halves is committed alone,
 * unless the database stores nothing at the moment.
 */
export function createGroupCommit(db: Db): GroupCommit {
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined
  let isClosed = false
  return {
    store(step, item) {
      if (isClosed) return Promise.reject(stoppingError())
      return new Promise((resolve, reject) => {
        waiting.push({ step, item, resolve, reject } as Waiting)
        running ??= commitAll()
      })
    },
    async close() {
      isClosed = true
      await running
    },
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      // Items of one turn of the event loop share a commit.
      await nextTurn()
      const group = waiting.slice(0, groupSize)
      waiting = waiting.slice(groupSize)
      await commit(group)
    }
    running = undefined
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    try {
      const results = await transact(db, async (transaction) => {
        return runSteps(transaction, group)
      })
      for (const [n, { resolve }] of group.entries()) resolve(results[n])
    } catch (error) {
      // The steps of a group take their locks one after the other. A smaller group is less in the way of others.
      const isForAll = group.length === 1 || (!isDeadlock(error) && explainStorageError(error) !== undefined)
      if (isForAll) for (const { reject } of group) reject(error)
      else await commitInHalves(group)
    }
  }

  /** Halving isolates one bad item of 256 by 16 more commits. One commit for each item would be 256. */
  async function commitInHalves(group: readonly Waiting[]): Promise<void> {
    const half = Math.ceil(group.length / 2)
    await commit(group.slice(0, half))
    await commit(group.slice(half))
  }
}

/** Runs each step once with all of its items. @returns the results in the order of `group` */
export async function runSteps(
  transaction: Db,
  group: readonly { step: Step<unknown, unknown>; item: unknown }[],
): Promise<unknown[]> {
  const numbersOf = new Map<Step<unknown, unknown>, number[]>()
  for (const [n, { step }] of group.entries()) {
    const numbers = numbersOf.get(step)
    if (numbers === undefined) numbersOf.set(step, [n])
    else numbers.push(n)
  }
  const results: unknown[] = new Array(group.length)
  for (const [step, numbers] of numbersOf) {
    const items = numbers.map((n) => group[n]?.item)
    const answers = await step(transaction, items)
    for (const [index, n] of numbers.entries()) results[n] = answers[index]
  }
  return results
}
