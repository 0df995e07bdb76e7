import { createFrameReader, type Frame, writeFrame } from '../../../runtime/process/frame.ts'
import type { HostHeader, ProcessHeader } from '../../../runtime/process/messages.ts'
import type { RunHostCall } from '../host-calls.ts'
import { type EndCause, errorOfBroken, errorOfEnd, ScriptError, wallClockError } from '../sandbox-errors.ts'
import type { SandboxTarget } from '../target.ts'
import { checkHeader, parsePost } from './check-frame.ts'
import { createGuestPosts } from './guest-posts.ts'
import { type LiveDispatch, maxMoves, type QueuedDispatch } from './live-dispatch.ts'
import { createLiveDispatches } from './live-dispatches.ts'
import { createLoadedSandboxes } from './loaded-sandboxes.ts'
import type { SandboxLimits, ScriptLog } from './process-options.ts'
import { type SandboxProgram, startProcess } from './start-process.ts'
import { watchProcess } from './watch-process.ts'

/** What is left of a process: `culprit` is whose code it was running. */
export type ProcessEnd = {
  notBegun: QueuedDispatch[]
  cause: EndCause
  culprit: SandboxTarget | undefined
  livedMs: number
}

export type SandboxProcess = {
  run: (queued: QueuedDispatch) => void
  pid: number | undefined
  close: () => Promise<void>
}

const frameOverheadBytes = 4 * 1024 * 1024
/** A process that does not read gets no further answers: it would fill the host's memory with them. */
const maxUnreadBytes = 16 * 1024 * 1024

/**
 * One OS process that runs sandboxes, seen from the host. It lives until it dies or is closed; `onEnd` then
 * gets the dispatches that had not begun. Those that had begun have been rejected by then.
 */
export function createSandboxProcess(given: {
  prelude: string
  limits: SandboxLimits
  runCall: RunHostCall
  onLog: ScriptLog
  onEnd: (end: ProcessEnd) => void
  program?: SandboxProgram
}): SandboxProcess {
  const { limits, runCall, onLog } = given
  const lives = createLiveDispatches(limits.wallMs)
  const startedAtMs = performance.now()
  const started = startProcess(
    (text) => onLog(undefined, 'error', `sandbox process: ${text.trim()}`),
    given.program,
  )
  const sandboxes = createLoadedSandboxes(send, limits)
  const posts = createGuestPosts({ lives, sandboxes, limits, runCall, onLog, send, giveUp })
  let cause: EndCause = { kind: 'died' }
  const watch = watchProcess(started, limits, {
    ping: () => send({ type: 'ping' }),
    onOver(found) {
      cause = found
      started.kill()
    },
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
    // What is not heard any more causes no further answers. A process that never reads is deaf, and ends.
    if (stream.writableLength > maxUnreadBytes && !stream.isPaused()) {
      stream.pause()
      stream.once('drain', () => stream.resume())
    }
  }

  function run(queued: QueuedDispatch): void {
    const failure = sandboxes.recentFailure(queued.target)
    if (failure !== undefined) return queued.reject(failure)
    const sandbox = sandboxes.use(queued.target)
    const { id } = lives.add(sandbox, queued, giveUp)
    send(
      { type: 'dispatch', sandbox, id },
      `{"kind":"dispatch","id":${id},"message":${queued.message}}`,
      queued.body,
    )
  }

  /** The time of an answer, or of what was given to `waitUntil`, is over: nothing wakes this dispatch's code again. */
  function giveUp(live: LiveDispatch): void {
    lives.end(live)
    send({ type: 'forget', sandbox: live.sandbox, id: live.id })
    if (!live.answered) live.queued.reject(wallClockError(limits))
  }

  function receive(frame: Frame): void {
    const header = checkHeader(frame.header)
    switch (header.type) {
      case 'ready':
      case 'loaded':
        return
      case 'pong':
        return watch.pong()
      case 'load-failed':
        return handleLoadFailed(header.sandbox, new ScriptError(header.error))
      case 'broken':
        return handleBroken(header)
      case 'too-large':
        return posts.refuseAnswer(header)
      case 'post': {
        const post = parsePost(frame.text)
        // Not what our prelude says. It runs beside the script, so this is one sandbox's doing, and not its neighbours'.
        if (post === undefined) return breakSandbox(header.sandbox)
        return posts.handle(header, post, frame.body)
      }
    }
  }

  function handleLoadFailed(sandbox: number, error: ScriptError): void {
    sandboxes.fail(sandbox, error)
    for (const live of lives.ofSandbox(sandbox)) {
      lives.end(live)
      live.queued.reject(error)
    }
  }

  function breakSandbox(sandbox: number): void {
    send({ type: 'unload', sandbox })
    const error = new ScriptError({
      name: 'Error',
      message: 'The sandbox broke off: it sent what is no answer.',
    })
    sandboxes.drop(sandbox)
    for (const live of lives.ofSandbox(sandbox)) {
      lives.end(live)
      if (!live.answered) live.queued.reject(error)
    }
  }

  function handleBroken(header: Extract<ProcessHeader, { type: 'broken' }>): void {
    sandboxes.drop(header.sandbox)
    const again: QueuedDispatch[] = []
    for (const live of lives.ofSandbox(header.sandbox)) {
      lives.end(live)
      if (live.answered) continue
      // Counted: a process that breaks each sandbox anew would keep a request going round for ever.
      live.queued.moves += 1
      if (live.id > header.begun && live.queued.moves <= maxMoves) again.push(live.queued)
      else live.queued.reject(errorOfBroken(header, live.id, limits))
    }
    for (const queued of again) run(queued)
  }

  function finish(signal: NodeJS.Signals | undefined): void {
    watch.stop()
    const box = started.readBlackBox()
    started.close()
    const notBegun: QueuedDispatch[] = []
    for (const live of lives.all()) {
      lives.end(live)
      if (live.answered) continue
      const isCulpritsLoad = box.sandbox === live.sandbox && box.dispatch === 0
      if (live.id > box.lastBegun && !isCulpritsLoad) notBegun.push(live.queued)
      else live.queued.reject(errorOfEnd(cause, signal, box, live, limits))
    }
    const culprit = cause.kind === 'closed' ? undefined : sandboxes.target(box.sandbox)
    given.onEnd({ notBegun, cause, culprit, livedMs: performance.now() - startedAtMs })
  }
}
