import type { GuestMessage } from '../../../runtime/bridge.ts'
import type { RunHostCall } from '../host-calls.ts'
import type { PostToHost } from './check-frame.ts'
import type { LiveDispatch } from './live-dispatch.ts'

/**
 * Does what a script asks for, on behalf of the dispatch that asks, and gives the answer to `settle`. A call
 * outside a dispatch, or one too many, is refused without looking at it.
 */
export async function answerCall(
  live: LiveDispatch | undefined,
  post: Extract<PostToHost, { kind: 'call' }>,
  body: Uint8Array,
  given: {
    maxCalls: number
    runCall: RunHostCall
    settle: (message: GuestMessage, body?: Uint8Array) => void
  },
): Promise<void> {
  const { settle, maxCalls } = given
  const refuse = (message: string) =>
    settle({ kind: 'settle', id: post.id, ok: false, error: { name: 'refused', message } })
  if (live === undefined) {
    return refuse('Nothing is being handled now. Give work that goes on after the answer to waitUntil().')
  }
  if (live.calls >= maxCalls) return refuse(`More than ${maxCalls} calls in one dispatch (SANDBOX_CALLS).`)
  const controller = new AbortController()
  live.calls += 1
  live.running.set(post.id, controller)
  const call = { name: post.name, args: post.args, body }
  const answer = await given.runCall(call, live.queued.context, controller.signal)
  live.running.delete(post.id)
  if (answer.ok) settle({ kind: 'settle', id: post.id, ok: true, value: answer.value }, answer.body)
  else settle({ kind: 'settle', id: post.id, ok: false, error: answer.error })
}
