import { Readable } from 'node:stream'
import type { HostCallAnswer, HostCallBody, HostCalls } from '../host-calls.ts'
import type { OnLimit } from '../sandbox-options.ts'
import type { LiveDispatch } from './live-dispatches.ts'

/**
 * Runs a host call of a script, on behalf of its dispatch, and gives the answer to `settle`. A call above a limit is
 * refused unread.
 */
export async function answerCall(
  live: LiveDispatch,
  call: { id: number; name: string; args: unknown; body: HostCallBody; isEgress: boolean },
  given: {
    limits: CallLimits
    runCall: HostCalls['run']
    onLimit: OnLimit
    settle: (answer: HostCallAnswer) => void
  },
): Promise<void> {
  const { settle, limits } = given
  const refused = refusal(live, call.isEgress, limits)
  if (refused !== undefined) {
    given.onLimit(live.queued.context.integration, refused.limit)
    return settle({ ok: false, error: { name: 'refused', message: refused.message } })
  }
  const controller = new AbortController()
  live.calls += 1
  if (call.isEgress) {
    live.egressCalls += 1
    live.egressBytes += call.body instanceof Uint8Array ? call.body.byteLength : 0
  }
  live.running ??= new Map()
  live.running.set(call.id, controller)
  const { context } = live.queued
  if (call.name === 'fetch') live.requests ??= { kept: [], leftOut: 0 }
  const answer = await given.runCall(call, context, controller.signal, live.requests)
  // A streamed answer may last as long as its dispatch: until then the call can be abandoned.
  if (!(answer.ok && answer.body instanceof Readable)) live.running?.delete(call.id)
  if (answer.ok && call.name === 'delivery') live.deliveries += 1
  if (answer.ok && call.name === 'task') live.tasks += 1
  settle(answer)
}

/** `limit`: the id in `limits-table.ts`. `message` goes to the script. */
type Refusal = { limit: string; message: string }

type CallLimits = { calls: number; callsAtOnce: number; fetches: number }

function refusal(live: LiveDispatch, isEgress: boolean, limits: CallLimits): Refusal | undefined {
  if (live.calls >= limits.calls) {
    return { limit: 'calls', message: `More than ${limits.calls} calls in one dispatch (SANDBOX_CALLS).` }
  }
  if ((live.running?.size ?? 0) >= limits.callsAtOnce) {
    const message = `More than ${limits.callsAtOnce} calls of one dispatch at once (SANDBOX_CALLS_AT_ONCE).`
    return { limit: 'calls_at_once', message }
  }
  if (isEgress && live.egressCalls >= limits.fetches) {
    const message = `More than ${limits.fetches} outbound requests in one dispatch (SANDBOX_FETCHES).`
    return { limit: 'fetches', message }
  }
  return undefined
}
