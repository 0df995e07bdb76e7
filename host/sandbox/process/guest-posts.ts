import type { HostHeader, ProcessHeader } from '../../../runtime/process/messages.ts'
import type { RunHostCall } from '../host-calls.ts'
import { answerTooLargeError } from '../sandbox-errors.ts'
import { installationOf } from '../target.ts'
import { answerCall } from './answer-call.ts'
import type { PostToHost } from './check-frame.ts'
import type { LiveDispatch } from './live-dispatch.ts'
import type { LiveDispatches } from './live-dispatches.ts'
import type { LoadedSandboxes } from './loaded-sandboxes.ts'
import type { LogSource, SandboxLimits, ScriptLog } from './process-options.ts'

type PostHeader = Extract<ProcessHeader, { type: 'post' }>
type Post<K extends PostToHost['kind']> = Extract<PostToHost, { kind: K }>

/** Does what the guests of a process say: their answers, calls and log lines. */
export type GuestPosts = {
  /** @throws Error when the process names a dispatch of another sandbox */
  handle: (header: PostHeader, post: PostToHost, body: Buffer) => void
  refuseAnswer: (header: Extract<ProcessHeader, { type: 'too-large' }>) => void
}

const waitUntilMs = 65_000
const maxLogLines = 1_000
const nothing = new Uint8Array(0)

export function createGuestPosts(given: {
  lives: LiveDispatches
  sandboxes: LoadedSandboxes
  limits: SandboxLimits
  runCall: RunHostCall
  onLog: ScriptLog
  send: (header: HostHeader, text?: string, body?: Uint8Array) => void
  /** Ends a dispatch whose time is over. */
  giveUp: (live: LiveDispatch) => void
}): GuestPosts {
  const { lives, sandboxes, limits, runCall, onLog, send } = given
  const strayLines = new Map<number, number>()
  return {
    handle(header, post, body) {
      const live = find(header)
      switch (post.kind) {
        case 'answer':
          return live === undefined ? undefined : answer(live, post, body)
        case 'done':
          return live === undefined ? undefined : lives.end(live)
        case 'log':
          return log(live, header.sandbox, post)
        case 'abort':
          return live?.running.get(post.id)?.abort()
        case 'call':
          return call(live, header, post, body)
      }
    },
    refuseAnswer(header) {
      const live = find(header)
      if (live === undefined || live.answered) return
      finishAnswer(live, false)
      live.queued.reject(answerTooLargeError(limits))
    },
  }

  /** A process names no dispatch that this host did not give it, and none of another sandbox. */
  function find({ sandbox, dispatch }: { sandbox: number; dispatch: number }): LiveDispatch | undefined {
    const live = lives.get(dispatch)
    if (live !== undefined && live.sandbox !== sandbox) throw new Error('post for another sandbox')
    return live
  }

  function answer(live: LiveDispatch, post: Post<'answer'>, body: Buffer): void {
    if (live.answered) return
    finishAnswer(live, post.done === true)
    live.queued.resolve({ result: post.result, body })
  }

  /** From the answer on, what was given to `waitUntil` has its own time, and the request is no longer needed. */
  function finishAnswer(live: LiveDispatch, isDone: boolean): void {
    live.answered = true
    live.queued.body = nothing
    live.queued.message = ''
    if (isDone) lives.end(live)
    else lives.restart(live, waitUntilMs, given.giveUp)
  }

  function call(
    live: LiveDispatch | undefined,
    { sandbox, dispatch }: PostHeader,
    post: Post<'call'>,
    body: Buffer,
  ): void {
    void answerCall(live, post, body, {
      maxCalls: limits.calls,
      runCall,
      settle: (message, bytes) => send({ type: 'settle', sandbox, dispatch }, JSON.stringify(message), bytes),
    })
  }

  function log(live: LiveDispatch | undefined, sandbox: number, { level, text }: Post<'log'>): void {
    // A sandbox that is none writes nothing; one logs outside of a dispatch while it is loaded, and not for ever.
    if (sandboxes.target(sandbox) === undefined) return
    const lines = live === undefined ? countStray(sandbox) : live.logLines++
    const source = sourceOf(live, sandbox)
    if (lines < maxLogLines) return onLog(source, level, text)
    if (lines > maxLogLines) return
    onLog(source, 'warn', `More than ${maxLogLines} lines in one dispatch: the others are dropped.`)
  }

  function countStray(sandbox: number): number {
    const lines = strayLines.get(sandbox) ?? 0
    strayLines.set(sandbox, lines + 1)
    return lines
  }

  function sourceOf(live: LiveDispatch | undefined, sandbox: number): LogSource | undefined {
    const target = sandboxes.target(sandbox)
    if (live !== undefined) return live.queued.context
    return target === undefined ? undefined : { integration: target.integration, ...installationOf(target) }
  }
}
