import { bodyStream } from '../../../runtime/wire-kinds.ts'
import type { AnnexError } from '../../errors/annex-error.ts'
import type { ScriptLog } from '../sandbox-options.ts'
import type { LiveDispatch } from './live-dispatch.ts'

/** The visitor of these has the head of an answer already: only the log can say what became of the rest. */
export type CutOff = {
  /** Its answer is not sent to its end. */
  answer: (live: LiveDispatch, error: AnnexError) => void
  /** Its answer, or what it gave to `waitUntil`. */
  rest: (live: LiveDispatch, error: AnnexError) => void
}

export function createCutOff(onLog: ScriptLog): CutOff {
  const answer: CutOff['answer'] = (live, error) => {
    live.outcome = error.code
    onLog(live.queued.context, 'error', `The answer was broken off. ${error.message}`)
  }
  return {
    answer,
    rest(live, error) {
      if (live.sinks?.has(bodyStream)) return answer(live, error)
      const advice = 'Give to queueTask what must not be lost.'
      const text = `What was given to waitUntil was cut off. ${error.message} ${advice}`
      onLog(live.queued.context, 'error', text)
    },
  }
}
