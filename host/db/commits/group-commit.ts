import { setImmediate as nextTurn } from 'node:timers/promises'
import { stoppingError } from '../../errors/stopping.ts'
import type { Clock } from '../database-clock.ts'
import type { Db } from '../db.ts'
import { explainStorageError, isDeadlock } from '../explain-storage-error.ts'
import type { Database } from '../open-database.ts'
import { committed } from './committed.ts'
import { sideBySide } from './side-by-side.ts'

/**
 * One kind of thing to store. All that wait for the same commit are stored by one call, in one statement where that
 * can be: a commit costs the same for one and for a hundred.
 *
 * @returns what each item is told after the commit, in their order
 */
export type Step<Item, Result> = (transaction: Db, items: readonly Item[]) => Promise<readonly Result[]>

export type GroupCommit = {
  /**
   * Stores an item. Resolves after the commit it was part of: it is on the disk then.
   *
   * @param onCommitted called when it is committed, which is before the disk has it: for work on it that may begin, as it is all
   *   the same whether that is undone by a power cut together with what it was about
   */
  store: <Item, Result>(
    step: Step<Item, Result>,
    item: Item,
    onCommitted?: (result: Result) => void,
  ) => Promise<Result>
  /**
   * The same for what only says who does something now: it resolves when it is committed, which is before the disk has it. The
   * end of the process leaves it; a power cut may undo it, and what it is about is done again then.
   */
  note: <Item, Result>(step: Step<Item, Result>, item: Item) => Promise<Result>
  /** Stores what waits, and then no more. */
  close: () => Promise<void>
}

export type Commits = {
  commits: GroupCommit
  /**
   * Of claims. On SQLite, which has one writer, these are steps of the same commits. On PostgreSQL each statement of a claim stands by
   * itself: none waits for those commits, and one that takes jobs is the only one that must hold as a whole.
   */
  claims: Pick<GroupCommit, 'note'>
}

export function createCommits(database: CommitDatabase & Pick<Database, 'dialect'>): Commits {
  const commits = createGroupCommit(database)
  if (database.dialect === 'sqlite') return { commits, claims: commits }
  return { commits, claims: { note: (step, item) => storeAlone(database.db, step, item) } }
}

async function storeAlone<Item, Result>(db: Db, step: Step<Item, Result>, item: Item): Promise<Result> {
  // Many jobs end in one turn of the event loop: who asks for the first of their turns is given all of them.
  await nextTurn()
  const [result] = await step(db, [item])
  return result as Result
}

type CommitDatabase = Pick<Database, 'db' | 'synced'> & { clock: Clock }

type Waiting = {
  onCommitted?: (result: unknown) => void
  step: Step<unknown, unknown>
  item: unknown
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** More would only make the first ones wait: the cost of a commit is lost among as many. */
const groupSize = 256

/** Fewer are not worth a commit of their own while the disk is busy with as many or more: others come up in a few ms. */
const smallGroup = 128
/** A disk may take a second for one sync of a hundred. */
const smallGroupMs = 4

/** Of a group that waits for somebody who waits for it. */
const mostTries = 3

/** A power cut undoes what the disk does not have yet: no more than as many are done again then. */
const mostUnsynced = 2 * groupSize

/**
 * Stores whatever has come up since the last commit together in the next one. Where little comes up, a commit begins at
 * once. While the disk is busy with one, the next is made, as a sync takes 10 ms on many a machine, and as long nothing else
 * would come in nor go out; only a small group waits a few ms then to become a larger one.
 *
 * An item that cannot be stored must not take others with it: when a group fails, each of its halves is stored by itself,
 * unless it is the database that takes nothing at the moment.
 */
export function createGroupCommit({ db, clock, synced }: CommitDatabase): GroupCommit {
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined
  /** Of groups that are committed, until the disk has them: in their order. */
  const syncing: Promise<void>[] = []
  /** Their items. */
  let unsynced = 0
  let sayEnough = () => {}
  let closed = false
  return {
    store: add,
    note: (step, item) => new Promise((resolve, reject) => add(step, item, resolve).catch(reject)),
    async close() {
      closed = true
      await running
      await Promise.all(syncing)
    },
  }

  function add<Item, Result>(
    step: Step<Item, Result>,
    item: Item,
    onCommitted?: (result: Result) => void,
  ): Promise<Result> {
    if (closed) return Promise.reject(stoppingError())
    return new Promise((resolve, reject) => {
      waiting.push({ onCommitted, step, item, resolve, reject } as Waiting)
      if (waiting.length >= smallGroup) sayEnough()
      running ??= run()
    })
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      // What comes up in the same turn of the event loop belongs together.
      await nextTurn()
      await untilWorthIt()
      const group = waiting.slice(0, groupSize)
      waiting = waiting.slice(groupSize)
      await commit(group)
    }
    running = undefined
  }

  /** A host that has little to do waits for nothing. */
  async function untilWorthIt(): Promise<void> {
    if (syncing[0] === undefined || unsynced < smallGroup) return
    if (unsynced >= mostUnsynced) await syncing[0]
    else if (waiting.length < smallGroup) await Promise.race([syncing[0], enough()])
  }

  /** Settles when a group is not small any more, or for long enough. */
  function enough(): Promise<void> {
    return new Promise((resolve) => {
      sayEnough = resolve
      clock.after(smallGroupMs, resolve)
    })
  }

  async function commit(group: readonly Waiting[], tries = 1): Promise<void> {
    let results: unknown[]
    try {
      results = await committed(db, (transaction) => runSteps(transaction, group))
    } catch (error) {
      if (isDeadlock(error) && tries < mostTries) return commit(group, tries + 1)
      const isForAll = group.length === 1 || explainStorageError(error) !== undefined
      if (isForAll) for (const { reject } of group) reject(error)
      else await commitInHalves(group)
      return
    }
    group.forEach(({ onCommitted, reject }, n) => {
      try {
        onCommitted?.(results[n])
      } catch (error) {
        // The others of the group, and the next ones, have nothing to do with it.
        reject(error)
      }
    })
    unsynced += group.length
    syncing.push(settle(group, results))
  }

  /** One of 256 that cannot be stored costs 16 commits more than its own, and not one for each of the others. */
  async function commitInHalves(group: readonly Waiting[]): Promise<void> {
    const half = Math.ceil(group.length / 2)
    await commit(group.slice(0, half))
    await commit(group.slice(half))
  }

  async function settle(group: readonly Waiting[], results: readonly unknown[]): Promise<void> {
    try {
      await synced()
      group.forEach(({ resolve }, n) => {
        resolve(results[n])
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
    syncing.shift()
    unsynced -= group.length
  }
}

/**
 * Each step once with all of its items; the results in the order of `group`. None may need what another one does: see `sideBySide`.
 */
export async function runSteps(
  transaction: Db,
  group: readonly { step: Step<unknown, unknown>; item: unknown }[],
): Promise<unknown[]> {
  const places = new Map<Step<unknown, unknown>, number[]>()
  group.forEach(({ step }, n) => {
    const found = places.get(step)
    if (found === undefined) places.set(step, [n])
    else found.push(n)
  })
  const results: unknown[] = new Array(group.length)
  const steps = [...places].map(([step, numbers]) => async () => {
    const answered = await step(
      transaction,
      numbers.map((n) => group[n]?.item),
    )
    numbers.forEach((n, place) => {
      results[n] = answered[place]
    })
  })
  await sideBySide(transaction, steps)
  return results
}
