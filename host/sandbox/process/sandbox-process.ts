import type { LogLevel } from '../../../runtime/bridge.ts'
import { createFrameReader, type Frame, writeFrame } from '../../../runtime/process/frame.ts'
import type { HostHeader, ProcessHeader } from '../../../runtime/process/messages.ts'
import type { RunHostCall } from '../host-calls.ts'
import {
  answerTooLargeError,
  type EndCause,
  errorOfBroken,
  errorOfEnd,
  ScriptError,
  wallClockError,
} from '../sandbox-errors.ts'
import { installationOf } from '../target.ts'
import { answerCall } from './answer-call.ts'
import { checkHeader, type PostToHost, parsePost } from './check-frame.ts'
import { abandon, type LiveDispatch, type QueuedDispatch } from './live-dispatch.ts'
import { createLoadedSandboxes } from './loaded-sandboxes.ts'
import { startProcess } from './start-process.ts'
import { watchProcess } from './watch-process.ts'

export type SandboxLimits = {
  heapMb: number
  residentMb: number
  cpuMs: number
  wallMs: number
  bodyBytes: number
  calls: number
}

/** Who logged a line: a script, and in which request, as far as that is known; else the process itself. */
export type LogSource = { integration: string; installationId?: string; requestId?: string }
export type ScriptLog = (source: LogSource | undefined, level: LogLevel, text: string) => void

export type SandboxProcess = {
  run: (queued: QueuedDispatch) => void
  ready: Promise<{ snapshot: boolean }>
  pid: number | undefined
  close: () => Promise<void>
}

const waitUntilMs = 65_000
const frameOverheadBytes = 4 * 1024 * 1024

/**
 * One OS process that runs sandboxes, seen from the host. It lives until it dies or is closed; `onEnd` then
 * gets the dispatches that had not begun. Those that had begun have been rejected by then.
 */
export function createSandboxProcess(given: {
  prelude: string
  limits: SandboxLimits
  runCall: RunHostCall
  onLog: ScriptLog
  onEnd: (notBegun: QueuedDispatch[], cause: EndCause) => void
}): SandboxProcess {
  const { limits, runCall, onLog } = given
  const lives = new Map<number, LiveDispatch>()
  const started = startProcess((text) => onLog(undefined, 'error', `sandbox process: ${text.trim()}`))
  const sandboxes = createLoadedSandboxes(send, limits)
  const ready = Promise.withResolvers<{ snapshot: boolean }>()
  let lastId = 0
  let cause: EndCause = { kind: 'died' }
  const stopWatching = watchProcess(started, limits, (found) => {
    cause = found
    started.kill()
  })
  const read = createFrameReader(limits.bodyBytes + frameOverheadBytes, receive)
  started.stream.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      // Bytes that no sandbox process of ours writes: whoever has taken it over, it is not heard again.
      cause = { kind: 'garbage', message: error instanceof Error ? error.message : String(error) }
      started.stream.destroy()
      started.kill()
    }
  })
  started.stream.on('error', () => started.kill())
  const ended = started.exited.then(finish)
  send({ type: 'platform' }, given.prelude)
  return {
    run,
    ready: ready.promise,
    pid: started.pid,
    close() {
      cause = { kind: 'closed' }
      started.kill()
      return ended
    },
  }

  function send(header: HostHeader, text?: string, body?: Uint8Array): void {
    const { stream } = started
    if (stream.destroyed) return
    // The requests that came in together go across together.
    if (stream.writableCorked === 0) {
      stream.cork()
      setImmediate(() => stream.uncork())
    }
    writeFrame(stream, header, text, body)
  }

  function run(queued: QueuedDispatch): void {
    const sandbox = sandboxes.use(queued.target)
    lastId += 1
    const id = lastId
    const timer = setTimeout(() => giveUp(id), limits.wallMs).unref()
    lives.set(id, { id, sandbox, queued, answered: false, timer, calls: 0, running: new Map() })
    send(
      { type: 'dispatch', sandbox, id },
      `{"kind":"dispatch","id":${id},"message":${queued.message}}`,
      queued.body,
    )
  }

  /** The wall clock has run out. The script may go on with what it promised to `waitUntil`, unheard. */
  function giveUp(id: number): void {
    const live = lives.get(id)
    if (live === undefined || live.answered) return
    end(live)
    send({ type: 'forget', sandbox: live.sandbox, id })
    live.queued.reject(wallClockError(limits))
  }

  function receive(frame: Frame): void {
    const header = checkHeader(frame.header)
    switch (header.type) {
      case 'ready':
        return ready.resolve({ snapshot: header.snapshot })
      case 'loaded':
        return
      case 'load-failed':
        sandboxes.drop(header.sandbox)
        return rejectAll(header.sandbox, () => new ScriptError(header.error))
      case 'broken':
        return handleBroken(header)
      case 'too-large':
        return refuseAnswer(header)
      case 'post':
        return handlePost(header, parsePost(frame.text), frame.body)
    }
  }

  function handlePost(
    header: Extract<ProcessHeader, { type: 'post' }>,
    post: PostToHost,
    body: Buffer,
  ): void {
    const live = lives.get(header.dispatch)
    // A process names no dispatch that this host did not give it, and none of another sandbox.
    if (live !== undefined && live.sandbox !== header.sandbox) throw new Error('post for another sandbox')
    switch (post.kind) {
      case 'answer':
        return live === undefined ? undefined : answer(live, post, body)
      case 'done':
        return live === undefined ? undefined : end(live)
      case 'log':
        return onLog(sourceOf(live, header.sandbox), post.level, post.text)
      case 'abort':
        return live?.running.get(post.id)?.abort()
      case 'call':
        return call(live, header.sandbox, post, body)
    }
  }

  function sourceOf(live: LiveDispatch | undefined, sandbox: number): LogSource | undefined {
    const target = sandboxes.target(sandbox)
    if (live !== undefined) return live.queued.context
    return target === undefined ? undefined : { integration: target.integration, ...installationOf(target) }
  }

  function answer(live: LiveDispatch, post: Extract<PostToHost, { kind: 'answer' }>, body: Buffer): void {
    if (live.answered) return
    live.answered = true
    if (post.done) end(live)
    else restartTimer(live)
    live.queued.resolve({ result: post.result, body })
  }

  /** From the answer on, what was given to `waitUntil` has its own time. */
  function restartTimer(live: LiveDispatch): void {
    clearTimeout(live.timer)
    live.timer = setTimeout(() => end(live), waitUntilMs).unref()
  }

  function refuseAnswer(header: Extract<ProcessHeader, { type: 'too-large' }>): void {
    const live = lives.get(header.dispatch)
    if (live === undefined || live.answered || live.sandbox !== header.sandbox) return
    live.answered = true
    restartTimer(live)
    live.queued.reject(answerTooLargeError(limits))
  }

  function call(
    live: LiveDispatch | undefined,
    sandbox: number,
    post: Extract<PostToHost, { kind: 'call' }>,
    body: Buffer,
  ): void {
    void answerCall(live, post, body, {
      maxCalls: limits.calls,
      runCall,
      settle: (message, bytes) =>
        send({ type: 'settle', sandbox, dispatch: live?.id ?? 0 }, JSON.stringify(message), bytes),
    })
  }

  function handleBroken(header: Extract<ProcessHeader, { type: 'broken' }>): void {
    sandboxes.drop(header.sandbox)
    const again: QueuedDispatch[] = []
    for (const live of livesOf(header.sandbox)) {
      end(live)
      if (live.answered) continue
      if (live.id > header.begun) again.push(live.queued)
      else live.queued.reject(errorOfBroken(header, live.id, limits))
    }
    for (const queued of again) run(queued)
  }

  function rejectAll(sandbox: number, errorOf: () => Error): void {
    for (const live of livesOf(sandbox)) {
      end(live)
      live.queued.reject(errorOf())
    }
  }

  function livesOf(sandbox: number): LiveDispatch[] {
    return [...lives.values()].filter((live) => live.sandbox === sandbox)
  }

  function end(live: LiveDispatch): void {
    lives.delete(live.id)
    abandon(live)
  }

  function finish(signal: NodeJS.Signals | undefined): void {
    stopWatching()
    ready.resolve({ snapshot: false })
    const box = started.readBlackBox()
    started.close()
    const notBegun: QueuedDispatch[] = []
    for (const live of [...lives.values()]) {
      end(live)
      if (live.answered) continue
      if (live.id > box.lastBegun) notBegun.push(live.queued)
      else live.queued.reject(errorOfEnd(cause, signal, box, live, limits))
    }
    given.onEnd(notBegun, cause)
  }
}
