import { createIdTable } from '../id-table.ts'

/** What an open dispatch has used so far, and may use. */
export type Budget = { dispatch: number; cpuMs: number; allowedMs: number; heapBytes: number }

/** What a dispatch has used, in µs and KiB, as a frame carries it. */
export type Used = { number: number; extra: number }

/** The dispatches of one sandbox that may still run code, each with its budget of CPU time. */
export type Budgets = {
  open: (dispatch: number) => void
  get: (dispatch: number) => Budget | undefined
  has: (dispatch: number) => boolean
  /** Bytes that cross for a dispatch earn it time: moving them costs some. */
  earn: (dispatch: number, bytes: number) => void
  /** Nothing wakes its code again. */
  close: (dispatch: number) => Used
  /** What those that are open have used, as a frame carries it: dispatch, µs and KiB of each, as 32-bit numbers. */
  all: () => Buffer
}

/** The dispatch that stands for what the script started while it was loaded: one budget for all of it. */
export const atLoad = 0
/** CPU time that a MiB earns which crosses for a dispatch. */
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
