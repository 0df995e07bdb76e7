import type { FrameToWrite } from '../../../runtime/process/frame.ts'
import { toProcess } from '../../../runtime/process/messages.ts'
import { bodyStream } from '../../../runtime/wire-kinds.ts'
import { type AnnexError, isAnnexError } from '../../errors.ts'
import type { Usage } from '../process/connection.ts'
import { noTurnError, stalledBodyError, waitUntilError, wallClockError } from '../sandbox-errors.ts'
import type { OnLimit, SandboxLimits, ScriptLog } from '../sandbox-options.ts'
import { isAnswered, type LiveDispatch, type LiveDispatches } from './live-dispatches.ts'

/** Ends a dispatch before its script has come to its end. */
export type EndDispatch = {
  /** The caller gets the error. After the answer the error goes to the log. */
  reject: (live: LiveDispatch, error: Error, usage?: Usage | 'reported later') => void
  /** As `reject`; the process runs no more code of the dispatch, and reports its usage. */
  abandon: (live: LiveDispatch, error: AnnexError) => void
  /** Abandons a dispatch whose answer, streamed body or `waitUntil` has taken too long. */
  timeOut: (live: LiveDispatch) => void
  /** Notes that an answer breaks off. The visitor already has its head, so only the log can tell why. */
  breakOffAnswer: (live: LiveDispatch, error: AnnexError) => void
}

export function createEndDispatch(given: {
  lives: LiveDispatches
  limits: SandboxLimits
  send: (frame: FrameToWrite) => void
  onLog: ScriptLog
  onLimit: OnLimit
}): EndDispatch {
  const { lives, limits, send, onLog, onLimit } = given
  return { reject, abandon, timeOut, breakOffAnswer }

  function reject(live: LiveDispatch, error: Error, usage?: Usage | 'reported later'): void {
    if (!isAnswered(live)) live.outcome = isAnnexError(error) ? error.code : 'internal'
    else if (isAnnexError(error)) logCutOff(live, error)
    lives.end(live, usage)
    if (!isAnswered(live)) live.queued.reject(error)
  }

  function abandon(live: LiveDispatch, error: AnnexError): void {
    send({ type: toProcess.forget, sandbox: live.sandbox, dispatch: live.id })
    reject(live, error, 'reported later')
  }

  function timeOut(live: LiveDispatch): void {
    if (!live.hasBegun) return abandon(live, noTurnError(limits))
    if (!isAnswered(live)) return abandon(live, wallClockError(limits))
    const isStreaming = live.sinks?.has(bodyStream) === true
    if (!isStreaming) onLimit(live.queued.context.integration, 'wait_until')
    abandon(live, isStreaming ? stalledBodyError(limits) : waitUntilError(limits))
  }

  function logCutOff(live: LiveDispatch, error: AnnexError): void {
    if (live.sinks?.has(bodyStream)) return breakOffAnswer(live, error)
    const advice = 'Give to queueTask what must not be lost.'
    onLog(live.queued.context, 'error', `What was given to waitUntil was cut off. ${error.message} ${advice}`)
  }

  function breakOffAnswer(live: LiveDispatch, error: AnnexError): void {
    live.outcome = error.code
    onLog(live.queued.context, 'error', `The answer was broken off. ${error.message}`)
  }
}
