import { createIdTable } from '../id-table.ts'

/** The CPU time that an open dispatch has used and may use, and its largest heap. */
export type Budget = { dispatch: number; cpuMs: number; allowedMs: number; heapBytes: number }

/** The usage of a dispatch in µs and KiB, as a frame carries it. */
export type Used = { number: number; extra: number }

/** The dispatches of one sandbox that may still run code, each with its budget of CPU time. */
export type Budgets = {
  open: (dispatch: number) => void
  get: (dispatch: number) => Budget | undefined
  has: (dispatch: number) => boolean
  /** Bytes that cross for a dispatch extend its budget: moving them takes CPU time. */
  earn: (dispatch: number, bytes: number) => void
  /** The code of the dispatch never wakes again. */
  close: (dispatch: number) => Used
  /** The usage of open dispatches: dispatch, µs and KiB of each, as 32-bit numbers. */
  all: () => Buffer
}

/** Work that the script started while it was loaded: one budget for all of it. */
export const atLoad = 0
const msPerMib = 8
const mib = 1024 * 1024

export function createBudgets(cpuMs: number): Budgets {
  const fresh = (dispatch: number): Budget => ({ dispatch, cpuMs: 0, allowedMs: cpuMs, heapBytes: 0 })
  const budgets = createIdTable<Budget>(64)
  budgets.set(atLoad, fresh(atLoad))
  return {
    open(dispatch) {
      budgets.set(dispatch, fresh(dispatch))
    },
    get: budgets.get,
    has: (dispatch) => budgets.get(dispatch) !== undefined,
    earn(dispatch, bytes) {
      const budget = budgets.get(dispatch)
      if (budget !== undefined) budget.allowedMs += (bytes / mib) * msPerMib
    },
    close(dispatch) {
      const budget = budgets.get(dispatch)
      budgets.delete(dispatch)
      return budget === undefined ? nothing : usedOf(budget)
    },
    all() {
      const numbers = budgets.values().flatMap((budget) => {
        const { number, extra } = usedOf(budget)
        return [budget.dispatch, number, extra]
      })
      const body = Buffer.alloc(numbers.length * 4)
      for (const [n, value] of numbers.entries()) body.writeUInt32LE(value, n * 4)
      return body
    },
  }
}

const nothing: Used = { number: 0, extra: 0 }

const usedOf = ({ cpuMs, heapBytes }: Budget): Used => ({
  number: Math.round(cpuMs * 1000) >>> 0,
  extra: Math.round(heapBytes / 1024) >>> 0,
})
