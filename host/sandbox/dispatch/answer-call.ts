import type { HostCallAnswer, HostCallBody, RunHostCall } from '../host-calls.ts'
import type { LiveDispatch } from './live-dispatch.ts'

/** The call that goes out to the world: its bytes are counted. */
export const egressCall = 'fetch'

/**
 * Does what a script asks for, on behalf of the dispatch that asks, and gives the answer to `settle`. One call too
 * many is refused without looking at it.
 */
export async function answerCall(
  live: LiveDispatch,
  call: { id: number; name: string; args: unknown; body: HostCallBody },
  given: { limits: CallLimits; runCall: RunHostCall; settle: (answer: HostCallAnswer) => void },
): Promise<void> {
  const { settle, limits } = given
  const message = refusal(live, call.name, limits)
  if (message !== undefined) return settle({ ok: false, error: { name: 'refused', message } })
  const controller = new AbortController()
  live.calls += 1
  if (call.name === egressCall) {
    live.egressCalls += 1
    live.egressBytes += call.body instanceof Uint8Array ? call.body.byteLength : 0
  }
  live.running ??= new Map()
  live.running.set(call.id, controller)
  const answer = await given.runCall(call, live.queued.context, controller.signal)
  // The body of an answer that streams ends with the dispatch: until then the call can be abandoned.
  if (!answer.ok || answer.body === undefined || answer.body instanceof Uint8Array)
    live.running?.delete(call.id)
  settle(answer)
}

type CallLimits = { calls: number; callsAtOnce: number; fetches: number }

function refusal(live: LiveDispatch, name: string, limits: CallLimits): string | undefined {
  if (live.calls >= limits.calls) return `More than ${limits.calls} calls in one dispatch (SANDBOX_CALLS).`
  if ((live.running?.size ?? 0) >= limits.callsAtOnce) {
    return `More than ${limits.callsAtOnce} calls of one dispatch at once (SANDBOX_CALLS_AT_ONCE).`
  }
  if (name === egressCall && live.egressCalls >= limits.fetches) {
    return `More than ${limits.fetches} outbound requests in one dispatch (SANDBOX_FETCHES).`
  }
  return undefined
}
