import { CryptoCallError } from './crypto-error.ts'

/** The time of Node's threads that each dispatch of a sandbox has used. */
export type ThreadTime = {
  /** Throws an OperationError when nothing is left. */
  assertLeft: (dispatch: number) => void
  spend: (dispatch: number, ms: number) => void
}

/** Above it those that are over are forgotten. */
const maxRemembered = 256

/**
 * An operation in a thread cannot be stopped, so the one that passes the limit ends, and the next one is refused. No
 * dispatch is ended for it: what it has used is a thread that others had no turn for, and not the one that runs them.
 */
export const createThreadTime = (limitMs: number, isLive: (dispatch: number) => boolean): ThreadTime => {
  const spentMs = new Map<number, number>()
  return {
    assertLeft(dispatch) {
      if ((spentMs.get(dispatch) ?? 0) < limitMs) return
      throw new CryptoCallError(
        'OperationError',
        `This dispatch has used ${limitMs} ms of cryptography, ten times its CPU time (SANDBOX_CPU_MS)`,
      )
    },
    spend(dispatch, ms) {
      spentMs.set(dispatch, (spentMs.get(dispatch) ?? 0) + ms)
      if (spentMs.size <= maxRemembered) return
      for (const one of spentMs.keys()) if (!isLive(one)) spentMs.delete(one)
    },
  }
}
