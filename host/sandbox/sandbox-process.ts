import type { PlainError } from '../../runtime/bridge.ts'
import type { Frame } from '../../runtime/process/frame.ts'
import { toHost, toProcess } from '../../runtime/process/messages.ts'
import { bodyStream } from '../../runtime/wire-kinds.ts'
import { type AnnexError, isAnnexError } from '../errors/annex-error.ts'
import { stoppingError } from '../errors/stopping.ts'
import { parseBroken, parseError, parseUsed, toUsage } from './dispatch/check-frame.ts'
import { createCutOff } from './dispatch/cut-off.ts'
import { createGuestPosts } from './dispatch/guest-frames.ts'
import { createLateUsage } from './dispatch/late-usage.ts'
import { isAnswered, type LiveDispatch, maxMoves, type QueuedDispatch } from './dispatch/live-dispatch.ts'
import { createLiveDispatches, noUsage, type ToldLater, type Usage } from './dispatch/live-dispatches.ts'
import { toReceipt } from './dispatch/to-receipt.ts'
import { createToSandbox } from './dispatch/to-sandbox.ts'
import type { RunHostCall } from './host-calls.ts'
import type { OnReceipt } from './receipt.ts'
import {
  type EndCause,
  errorOfBroken,
  errorOfEnd,
  loadLimitError,
  ScriptError,
  stalledBodyError,
  starved,
  starvedError,
  timedOut,
  waitUntilError,
  wallClockError,
} from './sandbox-errors.ts'
import { createRoomKeeper } from './process/keep-room.ts'
import { createLoadedSandboxes } from './dispatch/loaded-sandboxes.ts'
import { readCompetition } from './process/proc.ts'
import type { OnLimit, PlatformSource, SandboxLimits, ScriptLog } from './sandbox-options.ts'
import type { ProcessEvents, SandboxProcess } from './process/running-process.ts'
import { type BlackBoxRecord, type StartOptions, startProcess } from './process/start-process.ts'
import { pieceBytes, talk } from './process/connection.ts'
import { watchProcess } from './process/watch-process.ts'

/** No outcome: it runs elsewhere, and has its receipt there. */
const takenBack = ''
const evictPart = 0.25

/** One OS process that runs sandboxes, seen from the host. It lives until it dies or is closed. */
export function createSandboxProcess(
  given: {
    platform: PlatformSource
    limits: SandboxLimits
    runCall: RunHostCall
    onLog: ScriptLog
    onReceipt: OnReceipt
    onLimit: OnLimit
    start?: StartOptions
  } & ProcessEvents,
): SandboxProcess {
  const { limits, runCall, onLog, onLimit } = given
  const startedAtMs = performance.now()
  const started = startProcess(
    (text) => onLog(undefined, 'error', `sandbox process: ${text.trim()}`),
    given.start,
  )
  const { send } = talk(started.stream, {
    onFrame: receive,
    onGarbage(message) {
      // Whoever has taken it over, it is not heard again.
      cause = { kind: 'garbage', message }
      started.kill()
    },
  })
  let retired = false
  let cause: EndCause = { kind: 'died' }

  const cutOff = createCutOff(onLog)
  const late = createLateUsage(given.onReceipt)
  const lives = createLiveDispatches(limits.wallMs, (live, usage) => {
    sandboxes.release(live.sandbox)
    if (usage === 'told later') late.wait(live.id, toReceipt(live, noUsage))
    else if (live.outcome !== takenBack) given.onReceipt(toReceipt(live, usage))
  })
  const { cpuMs, loadMs, wallMs, timers, allowEval = false } = limits
  const sandboxes = createLoadedSandboxes(send, {
    ...{ cpuMs, loadMs, wallMs, timers, allowEval, pieceBytes },
  })
  const toSandbox = createToSandbox(send, limits, {
    ...{ onLimit, onBrokenOff: cutOff.answer },
    refuseRequest: abandon,
  })
  const hear = createGuestPosts({ lives, sandboxes, limits, runCall, onLog, onLimit, toSandbox })
  const room = createRoomKeeper(limits.residentMb)
  const watch = watchProcess(started, limits, {
    ping: () => send({ type: toProcess.ping, number: Math.round(readCompetition() * 100) }),
    onStuck: evacuate,
    onResident: keepRoom,
    onTick() {
      for (const live of lives.expired()) giveUp(live)
      late.giveUpOld()
      if (retired) closeWhenDone()
    },
    onOver(found) {
      cause = found
      started.kill()
    },
  })
  started.stream.on('error', () => started.kill())
  const ended = started.exited.then(finish)
  send({ type: toProcess.platform, number: limits.heapMb, ...given.platform })
  return {
    run,
    pid: started.pid,
    running: () => lives.all().length,
    loaded: sandboxes.count,
    residentBytes: started.residentBytes,
    retire() {
      retired = true
      closeWhenDone()
    },
    close,
  }

  function run(queued: QueuedDispatch): void {
    const failure = sandboxes.recentFailure(queued.target)
    if (failure !== undefined) return reject(lives.add(0, queued), failure)
    const { sandbox, environment } = sandboxes.use(queued.target, queued.environment)
    toSandbox.begin(lives.add(sandbox, queued), environment)
  }

  /** The dispatch ends with an error, and its caller hears of it unless it was answered. */
  function reject(live: LiveDispatch, error: Error, usage?: Usage | ToldLater): void {
    if (!isAnswered(live)) live.outcome = isAnnexError(error) ? error.code : 'internal'
    else if (isAnnexError(error)) cutOff.rest(live, error)
    lives.end(live, usage)
    if (!isAnswered(live)) live.queued.reject(error)
  }

  /** The time of an answer, or of what was given to `waitUntil`, is over: nothing wakes this dispatch's code again. */
  function giveUp(live: LiveDispatch): void {
    if (!isAnswered(live)) return abandon(live, wallClockError(limits))
    const isStreaming = live.sinks?.has(bodyStream) === true
    if (!isStreaming) onLimit(live.queued.context.integration, 'wait_until')
    abandon(live, isStreaming ? stalledBodyError(limits) : waitUntilError(limits))
  }

  function abandon(live: LiveDispatch, error: AnnexError): void {
    send({ type: toProcess.forget, sandbox: live.sandbox, dispatch: live.id })
    reject(live, error, 'told later')
  }

  function receive(frame: Frame): void {
    switch (frame.type) {
      case toHost.ready:
      case toHost.loaded:
        return
      case toHost.pong:
        return watch.pong()
      case toHost.stuck:
        return send({ type: toProcess.goOn })
      case toHost.loadFailed:
        return handleLoadFailed(frame)
      case toHost.broken:
        return handleBroken(frame)
      case toHost.used:
        return late.tell(frame.dispatch, toUsage(frame))
      default:
        if (!hear(frame)) breakSandbox(frame.sandbox)
    }
  }

  function handleLoadFailed({ sandbox, text }: Frame): void {
    const said = parseError(text)
    if (said === undefined) throw new Error('load failed: no error that there is')
    const error = errorOfLoad(said)
    sandboxes.fail(sandbox, error)
    for (const live of lives.ofSandbox(sandbox)) reject(live, error)
  }

  function errorOfLoad(said: PlainError): Error {
    if (said.message === timedOut) return loadLimitError(limits)
    return said.message === starved ? starvedError() : new ScriptError(said)
  }

  function breakSandbox(sandbox: number): void {
    send({ type: toProcess.unload, sandbox })
    const message = 'The sandbox broke off: it sent what is no answer.'
    sandboxes.drop(sandbox)
    for (const live of lives.ofSandbox(sandbox)) reject(live, new ScriptError({ name: 'Error', message }))
  }

  function handleBroken({ sandbox, dispatch, number: begun, text, body }: Frame): void {
    const { reason } = parseBroken(text)
    const used = parseUsed(body)
    sandboxes.drop(sandbox)
    const again: QueuedDispatch[] = []
    for (const live of lives.ofSandbox(sandbox)) {
      // Counted: a process that breaks each sandbox anew would keep a request going round for ever.
      live.queued.moves += 1
      if (live.id > begun && !isAnswered(live) && live.queued.moves <= maxMoves) again.push(takeBack(live))
      else reject(live, errorOfBroken({ reason, dispatch }, live.id, limits), used.get(live.id))
    }
    given.onGivenBack(again)
  }

  /** It has not begun, and runs elsewhere: here it leaves no receipt. */
  function takeBack(live: LiveDispatch): QueuedDispatch {
    live.outcome = takenBack
    lives.end(live)
    return live.queued
  }

  /**
   * One script keeps the process busy: what waits behind it runs elsewhere. The process reports such a stretch at its
   * end (`stuck`), and begins nothing more before it has read which dispatches are no longer its own.
   */
  function evacuate(box: BlackBoxRecord): void {
    const culprit = sandboxes.target(box.sandbox)
    if (culprit === undefined) return
    const waiting = lives.all().filter((live) => live.id > box.lastBegun && !isAnswered(live))
    const hasNeighbours = waiting.some((live) => live.sandbox !== box.sandbox)
    const notBegun = hasNeighbours ? waiting : []
    for (const live of notBegun) send({ type: toProcess.forget, sandbox: live.sandbox, dispatch: live.id })
    given.onStuck(culprit, notBegun.map(takeBack))
  }

  function keepRoom(residentBytes: number): void {
    if (retired) return
    const verdict = room.look(residentBytes, sandboxes.count())
    if (verdict === 'evict') room.evicted(sandboxes.evict(evictPart))
    else if (verdict === 'recycle') given.onDrift()
  }

  function closeWhenDone(): void {
    if (lives.isEmpty() && late.isEmpty()) void close()
  }

  function close(): Promise<void> {
    cause = { kind: 'closed' }
    started.kill()
    return ended
  }

  function finish(signal: NodeJS.Signals | undefined): void {
    watch.stop()
    const box = started.readBlackBox()
    started.close()
    const notBegun: QueuedDispatch[] = []
    for (const live of lives.all()) {
      const isCulpritsLoad = box.sandbox === live.sandbox && box.dispatch === 0
      if (live.id > box.lastBegun && !isCulpritsLoad && !isAnswered(live)) notBegun.push(takeBack(live))
      else {
        const error = cause.kind === 'closed' ? stoppingError() : errorOfEnd(cause, signal, box, live, limits)
        // Of the others in it nobody knows any more.
        const usage = { ...noUsage, cpuMs: watch.lastStretchMs() }
        reject(live, error, live.id === box.dispatch ? usage : undefined)
      }
    }
    late.giveUpAll()
    const culprit = cause.kind === 'closed' ? undefined : sandboxes.target(box.sandbox)
    given.onEnd({ notBegun, cause, culprit, livedMs: performance.now() - startedAtMs })
  }
}
