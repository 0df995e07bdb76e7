import { createIdTable } from '../id-table.ts'

/** What an open dispatch has used so far, and may use. */
export type Budget = { cpuMs: number; allowedMs: number; heapBytes: number }

/** The dispatches of one sandbox that may still run code, each with its budget of CPU time. */
export type Budgets = {
  open: (dispatch: number) => void
  get: (dispatch: number) => Budget | undefined
  has: (dispatch: number) => boolean
  /** Bytes that cross for a dispatch earn it time: moving them costs some. */
  earn: (dispatch: number, bytes: number) => void
  /** Nothing wakes its code again. Returns what it has used, in µs and KiB, as a frame carries it. */
  close: (dispatch: number) => { number: number; extra: number }
}

/** The dispatch that stands for what the script started while it was loaded: one budget for all of it. */
export const atLoad = 0
/** CPU time that a MiB earns which crosses for a dispatch. */
const msPerMib = 8
const mib = 1024 * 1024

export function createBudgets(cpuMs: number): Budgets {
  const fresh = (): Budget => ({ cpuMs: 0, allowedMs: cpuMs, heapBytes: 0 })
  const budgets = createIdTable<Budget>(64)
  budgets.set(atLoad, fresh())
  return {
    open(dispatch) {
      budgets.set(dispatch, fresh())
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
      if (budget === undefined) return nothing
      return { number: Math.round(budget.cpuMs * 1000) >>> 0, extra: Math.round(budget.heapBytes / 1024) }
    },
  }
}

const nothing = { number: 0, extra: 0 }
