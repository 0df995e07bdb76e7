import { type AbortSignal, abortSignal, createFollowingSignal } from '../events/abort-signal.ts'
import { DOMException } from '../events/dom-exception.ts'

/** The visitor of a request that came in. Its signal is made on first use: few handlers look at it. */
export type Visit = { hasLeft: boolean; signal: AbortSignal | undefined }

export const createVisit = (): Visit => ({ hasLeft: false, signal: undefined })

export const signalOfVisit = (visit: Visit): AbortSignal => {
  if (visit.signal === undefined) {
    visit.signal = createFollowingSignal([])
    if (visit.hasLeft) endVisit(visit)
  }
  return visit.signal
}

/** The visitor has gone before the answer has ended. */
export const endVisit = (visit: Visit): void => {
  visit.hasLeft = true
  if (visit.signal === undefined) return
  abortSignal(visit.signal, new DOMException('The visitor left before the answer had ended', 'AbortError'))
}
