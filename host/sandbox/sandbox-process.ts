import type { PlainError } from '../../runtime/bridge.ts'
import type { Frame } from '../../runtime/process/frame.ts'
import { toHost, toProcess } from '../../runtime/process/messages.ts'
import { stoppingError } from '../errors.ts'
import { createEndDispatch } from './dispatch/end-dispatch.ts'
import { createGuestFrames } from './dispatch/guest-frames.ts'
import {
  createLiveDispatches,
  isAnswered,
  maxMoves,
  noUsage,
  type QueuedDispatch,
} from './dispatch/live-dispatches.ts'
import { createLoadedSandboxes } from './dispatch/loaded-sandboxes.ts'
import { createToSandbox } from './dispatch/to-sandbox.ts'
import { createTurns } from './dispatch/turns.ts'
import type { HostCalls } from './host-calls.ts'
import { createConnection, parseBroken, parseError, parseUsages, toUsage } from './process/connection.ts'
import { readCompetition } from './process/proc.ts'
import type { PlatformSource } from './process/snapshot.ts'
import { type BlackBoxRecord, type StartProcess, startProcess } from './process/start-process.ts'
import { watchProcess } from './process/watch-process.ts'
import type { OnReceipt } from './receipt.ts'
import {
  type EndCause,
  errorOfBroken,
  errorOfEnd,
  loadLimitError,
  noTurnError,
  ScriptError,
  starved,
  starvedError,
  timedOut,
} from './sandbox-errors.ts'
import type { OnLimit, SandboxLimits, ScriptLog } from './sandbox-options.ts'
import type { SandboxTarget } from './target.ts'

export type SandboxProcess = {
  /** Sends the dispatch to its script. A script that is not loaded waits for its turn to be loaded. */
  run: (queued: QueuedDispatch) => void
  pid: number | undefined
  /** How many dispatches run in it, or wait for it. */
  running: () => number
  /** How many sandboxes it holds. */
  loaded: () => number
  residentBytes: () => number
  /** The process gets no further dispatch, and ends when all running ones are done. Waiting ones run elsewhere. */
  retire: () => void
  close: () => Promise<void>
}

/** `culprit`: the target whose code ran when the process ended. */
export type ProcessEnd = {
  notBegun: QueuedDispatch[]
  cause: EndCause
  culprit: SandboxTarget | undefined
  livedMs: number
}

export type ProcessEvents = {
  /** Dispatches that had begun have been rejected by then. */
  onEnd: (end: ProcessEnd) => void
  /** `culprit` keeps the process busy for long. `notBegun` has been taken back, to run elsewhere. */
  onStuck: (culprit: SandboxTarget, notBegun: QueuedDispatch[]) => void
  /** Dispatches that had not begun when their script was ended, or could not be loaded in time. They run again. */
  onGivenBack: (notBegun: QueuedDispatch[]) => void
  /** Its memory grows although idle sandboxes were ended: a fresh process should replace it. */
  onDrift: () => void
}

/** One OS process that runs sandboxes, seen from the host. It lives until it dies or is closed. */
export function createSandboxProcess(
  given: {
    platform: PlatformSource
    limits: SandboxLimits
    hostCalls: HostCalls
    onLog: ScriptLog
    onReceipt: OnReceipt
    onLimit: OnLimit
    /** Default: a process without an enclosure. */
    start?: StartProcess
  } & ProcessEvents,
): SandboxProcess {
  const { limits, hostCalls, onLog, onLimit } = given
  const startedAtMs = performance.now()
  const { start = startProcess } = given
  const started = start((text) => onLog(undefined, 'error', `sandbox process: ${text.trim()}`))
  const { send } = createConnection(started.stream, {
    handleFrame,
    onGarbage(message) {
      // An attacker may have taken the process over: it is ended at once.
      cause = { kind: 'garbage', message }
      started.kill()
    },
  })
  const turns = createTurns()
  let isRetired = false
  let cause: EndCause = { kind: 'died' }

  const sandboxes = createLoadedSandboxes(send, limits)
  const lives = createLiveDispatches({
    wallMs: limits.wallMs,
    release: sandboxes.release,
    onReceipt: given.onReceipt,
  })
  const { reject, abandon, timeOut, breakOffAnswer } = createEndDispatch({
    lives,
    limits,
    send,
    onLog,
    onLimit,
  })
  const toSandbox = createToSandbox(send, limits, {
    onLimit,
    refuseRequest: abandon,
    onBrokenOff: breakOffAnswer,
  })
  const handleGuestFrame = createGuestFrames({
    lives,
    sandboxes,
    limits,
    hostCalls,
    onLog,
    onLimit,
    toSandbox,
  })
  const watch = watchProcess(started, limits, {
    ping: () => send({ type: toProcess.ping, number: Math.round(readCompetition() * 100) }),
    onStuck: evacuate,
    onResident(bytes) {
      if (!isRetired && sandboxes.evictFor(bytes, turns.count() > 0) === 'recycle') given.onDrift()
    },
    onTick(_servedMs, box) {
      for (const live of lives.expired(box.lastBegun)) timeOut(live)
      for (const queued of turns.takeOlder(performance.now() - limits.wallMs)) {
        reject(lives.add(0, queued), noTurnError(limits))
      }
      lives.giveUpUsage('late')
      if (isRetired) closeWhenDone()
      else giveTurns()
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
    running: () => lives.count() + turns.count(),
    loaded: sandboxes.count,
    residentBytes: started.residentBytes,
    retire() {
      isRetired = true
      given.onGivenBack(turns.takeAll())
      closeWhenDone()
    },
    close,
  }

  function run(queued: QueuedDispatch): void {
    const failure = sandboxes.recentFailure(queued.target)
    if (failure !== undefined) return reject(lives.add(0, queued), failure)
    if (sandboxes.isLoaded(queued.target) && !turns.has(queued.target.key)) return begin(queued)
    turns.wait(queued)
    giveTurns()
  }

  /** Loads the next scripts, while few are being loaded and there is memory for them. */
  function giveTurns(): void {
    while (turns.count() > 0 && sandboxes.mayLoad(started.residentBytes())) {
      for (const queued of turns.next()) begin(queued)
    }
  }

  function begin(queued: QueuedDispatch): void {
    queued.onBegin?.()
    const { sandbox, environment } = sandboxes.load(queued.target, queued.environment)
    toSandbox.begin(lives.add(sandbox, queued), environment)
  }

  function handleFrame(frame: Frame): void {
    switch (frame.type) {
      case toHost.ready:
        return
      case toHost.loaded:
        if (sandboxes.settle(frame.sandbox)) watch.progress()
        return giveTurns()
      case toHost.pong:
        return watch.pong()
      case toHost.stuck:
        return send({ type: toProcess.goOn })
      case toHost.loadFailed:
        return handleLoadFailed(frame)
      case toHost.broken:
        return handleBroken(frame)
      case toHost.used:
        return lives.reportUsage(frame.dispatch, toUsage(frame))
      default:
        if (frame.type === toHost.answer && isAwaited(frame.dispatch)) watch.progress()
        if (!handleGuestFrame(frame)) breakSandbox(frame.sandbox)
    }
  }

  /** A process that was taken over could send answers without end. */
  function isAwaited(dispatch: number): boolean {
    const live = lives.get(dispatch)
    return live !== undefined && !isAnswered(live)
  }

  function handleLoadFailed({ sandbox, text }: Frame): void {
    const thrown = parseError(text)
    if (thrown === undefined) throw new Error('a "load failed" frame holds no error')
    const error = errorOfLoad(thrown)
    // The machine was too busy, and by now the process knows by how much: the script may be a good one.
    const again = thrown.message === starved ? takeBackWaiting(sandbox) : []
    if (again.length > 0) sandboxes.drop(sandbox)
    else sandboxes.fail(sandbox, error)
    for (const live of lives.ofSandbox(sandbox)) reject(live, error)
    given.onGivenBack(again)
  }

  function errorOfLoad(thrown: PlainError): Error {
    if (thrown.message === timedOut) return loadLimitError(limits)
    return thrown.message === starved ? starvedError() : new ScriptError(thrown)
  }

  function breakSandbox(sandbox: number): void {
    send({ type: toProcess.unload, sandbox })
    const message = 'The sandbox was ended: it sent a frame that is no answer.'
    sandboxes.drop(sandbox)
    for (const live of lives.ofSandbox(sandbox)) reject(live, new ScriptError({ name: 'Error', message }))
  }

  function handleBroken({ sandbox, dispatch, number: begun, text, body }: Frame): void {
    const { reason } = parseBroken(text)
    const usages = parseUsages(body)
    sandboxes.drop(sandbox)
    const again = takeBackWaiting(sandbox, begun)
    for (const live of lives.ofSandbox(sandbox))
      reject(live, errorOfBroken({ reason, dispatch }, live.id, limits), usages.get(live.id))
    given.onGivenBack(again)
  }

  /** @returns dispatches of a sandbox after `begun`. Bounded: a process that breaks each one anew would move a request for ever. */
  function takeBackWaiting(sandbox: number, begun = 0): QueuedDispatch[] {
    const waiting = lives.ofSandbox(sandbox).filter((live) => live.id > begun && !isAnswered(live))
    for (const { queued } of waiting) queued.moves += 1
    return waiting.filter(({ queued }) => queued.moves <= maxMoves).map(lives.takeBack)
  }

  /**
   * One script keeps the process busy: dispatches that wait behind it run elsewhere. The process reports such a stretch at
   * its end (`stuck`). It begins nothing more before it has read which dispatches were taken back.
   */
  function evacuate(box: BlackBoxRecord): void {
    const culprit = sandboxes.target(box.sandbox)
    if (culprit === undefined) return
    const waiting = lives.all().filter((live) => live.id > box.lastBegun && !isAnswered(live))
    const hasNeighbours = turns.count() > 0 || waiting.some((live) => live.sandbox !== box.sandbox)
    if (!hasNeighbours) return given.onStuck(culprit, [])
    for (const live of waiting) send({ type: toProcess.forget, sandbox: live.sandbox, dispatch: live.id })
    given.onStuck(culprit, [...waiting.map(lives.takeBack), ...turns.takeAll()])
  }

  function closeWhenDone(): void {
    if (lives.isEmpty()) void close()
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
    const notBegun = turns.takeAll()
    for (const live of lives.all()) {
      const isCulpritsLoad = box.sandbox === live.sandbox && box.dispatch === 0
      if (live.id > box.lastBegun && !isCulpritsLoad && !isAnswered(live)) {
        notBegun.push(lives.takeBack(live))
      } else {
        const error = cause.kind === 'closed' ? stoppingError() : errorOfEnd(cause, signal, box, live, limits)
        // The usage of the other dispatches died with the process.
        const usage = { ...noUsage, cpuMs: watch.lastStretchMs() }
        reject(live, error, live.id === box.dispatch ? usage : undefined)
      }
    }
    lives.giveUpUsage('all')
    const culprit = cause.kind === 'closed' ? undefined : sandboxes.target(box.sandbox)
    given.onEnd({ notBegun, cause, culprit, livedMs: performance.now() - startedAtMs })
  }
}
