import { setTimeout as sleep } from 'node:timers/promises'
import { AnnexError, stoppingError } from '../errors.ts'
import { maxMoves, type QueuedDispatch } from './dispatch/live-dispatches.ts'
import type { HostCalls } from './host-calls.ts'
import { createOffenders } from './offenders.ts'
import type { PlatformSource } from './process/snapshot.ts'
import type { StartProcess } from './process/start-process.ts'
import { createProcessSlots } from './process-slots.ts'
import { emptyReceipt, type OnReceipt } from './receipt.ts'
import { type EndCause, noTurnError, ScriptError, suspendedError } from './sandbox-errors.ts'
import type { OnLimit, SandboxLimits, ScriptLog } from './sandbox-options.ts'
import { createSandboxProcess, type ProcessEnd, type SandboxProcess } from './sandbox-process.ts'
import type { DispatchContext, DispatchOutcome, SandboxTarget, ScriptResponse } from './target.ts'

export type DispatchRequest = Pick<QueuedDispatch, 'target' | 'environment' | 'message' | 'context'> &
  Partial<Pick<QueuedDispatch, 'visitor' | 'body' | 'onBegin'>> & {
    /** For `events` of the script: without a handler there it is not called. */
    isQueuedEvent?: boolean
  }

export type RunningProcess = { slot: string; pid: number | undefined; loaded: number; residentBytes: number }

export type Sandboxes = {
  dispatch: (request: DispatchRequest) => Promise<DispatchOutcome>
  /** The processes that run now. A slot is `GROUP#NUMBER` for a shared process, `GROUP!KEY` for a script that runs alone. */
  processes: () => RunningProcess[]
  /** Drops the strikes of a target, by its key: it was resumed. */
  forgive: (key: string) => void
  /** Takes no further dispatch, and waits until the running ones are done, `waitUntil` included, for so long at most. */
  drain: (patienceMs: number) => Promise<void>
  close: () => Promise<void>
}

const shortLifeMs = 1_000
const drainPollMs = 25
const crowdedPollMs = 25
/** Keys of targets without waiting dispatches stay in the table up to this many: most are asked for again at once. */
const maxIdleKeys = 1_000
const emptyBody = new Uint8Array(0)

/**
 * All sandbox processes. Each publisher has its own. A process that dies is replaced at once, and dispatches that had not
 * begun in it move to its successor. So do dispatches that wait in a process that a script keeps busy.
 */
export function createSandboxes(given: {
  platform: PlatformSource
  limits: SandboxLimits & { pending: number }
  /** Processes of the operator's own integrations, and of each other publisher. */
  processes: number
  /** Processes of all other publishers together, and as many again of scripts that run alone. */
  processesMax: number
  /** Whether one process more is ready for the next publisher, or for one that ends. Default: true. */
  keepsSpare?: boolean
  hostCalls: HostCalls
  onLog: ScriptLog
  onReceipt: OnReceipt
  onLimit: OnLimit
  onProcessEnd: (slot: string, cause: EndCause) => void
  /** A target has ended its process too often. It is refused at once, and stays refused while the suspension is stored. */
  onSuspend: (target: SandboxTarget, reason: string) => void
  /** Default: processes without an enclosure. */
  start?: StartProcess
}): Sandboxes {
  const { limits } = given
  const waiting = new Map<string, number>()
  const offenders = createOffenders()
  /** Processes that get no further dispatch, until they end. */
  const retired = new Set<SandboxProcess>()
  /** Dispatches whose script has to run alone, and has no process yet. */
  const crowded: QueuedDispatch[] = []
  const slots = createProcessSlots({
    start,
    perPublisher: given.processes,
    most: given.processesMax,
    keepsSpare: given.keepsSpare ?? true,
  })
  let isClosing = false
  return {
    dispatch,
    processes: () =>
      slots.list().map(({ slot, process }) => ({
        slot,
        pid: process.pid,
        loaded: process.loaded(),
        residentBytes: process.residentBytes(),
      })),
    forgive: offenders.forgive,
    async drain(patienceMs) {
      isClosing = true
      const endMs = performance.now() + patienceMs
      while (
        (crowded.length > 0 || all().some((running) => running.running() > 0)) &&
        performance.now() < endMs
      )
        await sleep(drainPollMs)
    },
    async close() {
      isClosing = true
      runCrowded()
      slots.stop()
      await Promise.all(all().map((running) => running.close()))
    },
  }

  /**
   * The path of one dispatch: take a turn, pick a process, load the script there in turn, send it (`SandboxProcess.run`). Frames
   * arrive until the answer (`guest-frames.ts`). Its end gives the receipt (`live-dispatches.ts`).
   */
  async function dispatch(request: DispatchRequest): Promise<DispatchOutcome> {
    if (isClosing) throw stoppingError()
    if (request.isQueuedEvent && hasNoHandler(request)) return refuseEvent(request.context)
    const endTurn = takeTurn(request)
    try {
      return await new Promise((resolve, reject) => {
        const { visitor, body = emptyBody } = request
        const askedMs = performance.now()
        run({ ...request, visitor, body, askedMs, moves: 0, resolve, reject })
      })
    } finally {
      endTurn()
    }
  }

  /** Runs again for a dispatch that moves: its script may have to run alone by then. */
  function run(queued: QueuedDispatch): void {
    const { target } = queued
    const verdict = offenders.verdict(target)
    if (verdict.kind === 'suspended') {
      return queued.reject(refuse(queued.context, suspendedError(target.key, verdict.reason)))
    }
    const process = verdict.kind === 'alone' ? slots.alone(target) : slots.shared(target)
    if (process !== undefined) return process.run(queued)
    if (crowded.push(queued) === 1) setTimeout(runCrowded, crowdedPollMs)
  }

  /** Runs what had to wait as too many scripts ran alone. */
  function runCrowded(): void {
    for (const queued of crowded.splice(0)) {
      if (isClosing) queued.reject(stoppingError())
      else if (performance.now() - queued.askedMs < limits.wallMs) run(queued)
      else queued.reject(refuse(queued.context, noTurnError(limits)))
    }
  }

  function all(): SandboxProcess[] {
    return [...slots.list().map(({ process }) => process), ...retired]
  }

  function start(): SandboxProcess {
    const { platform, hostCalls, onLog, onReceipt, onLimit } = given
    const started: SandboxProcess = createSandboxProcess({
      platform,
      limits,
      hostCalls,
      onLog,
      onReceipt,
      onLimit,
      ...(given.start !== undefined && { start: given.start }),
      onEnd: (end) => replace(started, end),
      onStuck(culprit, notBegun) {
        offenders.busy(culprit)
        if (notBegun.length === 0) return
        retire(started)
        runAgain(notBegun)
      },
      onGivenBack: runAgain,
      onDrift: () => retire(started),
    })
    return started
  }

  function runAgain(notBegun: QueuedDispatch[]): void {
    for (const queued of notBegun) {
      if (isClosing) queued.reject(stoppingError())
      else run(queued)
    }
  }

  function retire(running: SandboxProcess): void {
    slots.free(running)
    retired.add(running)
    running.retire()
  }

  function replace(ended: SandboxProcess, end: ProcessEnd): void {
    const slot = slots.free(ended)
    retired.delete(ended)
    if (isClosing) return runAgain(end.notBegun)
    if (end.cause.kind !== 'closed') given.onProcessEnd(slot ?? 'retired', end.cause)
    const reason = end.culprit && offenders.strike(end.culprit, end.cause)
    if (end.culprit !== undefined && reason !== undefined) given.onSuspend(end.culprit, reason)
    // A process that ended as soon as it began would end again: the next dispatch starts it.
    if (slot?.includes('#') && end.livedMs > shortLifeMs) slots.restart(slot)
    for (const queued of end.notBegun) move(queued)
  }

  function move(queued: QueuedDispatch): void {
    queued.moves += 1
    if (queued.moves <= maxMoves) return run(queued)
    const message = 'The sandbox processes died before they could begin this.'
    queued.reject(refuse(queued.context, new AnnexError('sandbox_died', message)))
  }

  /** @returns ends the turn. @throws AnnexError `sandbox_busy` when the target has its limit of waiting dispatches */
  function takeTurn({ target: { key }, context }: DispatchRequest): () => void {
    const count = waiting.get(key) ?? 0
    if (count >= limits.pending) {
      const message = `More than ${limits.pending} requests wait for ${key} (SANDBOX_PENDING).`
      throw refuse(context, new AnnexError('sandbox_busy', message))
    }
    waiting.set(key, count + 1)
    return () => {
      const left = (waiting.get(key) ?? 1) - 1
      if (left === 0 && waiting.size > maxIdleKeys) waiting.delete(key)
      else waiting.set(key, left)
    }
  }

  /** An event without a handler needs no sandbox. The script would answer the same. */
  function refuseEvent(context: DispatchContext): DispatchOutcome {
    given.onReceipt(emptyReceipt(context, 'no_handler'))
    return { result: { kind: 'response', head: { status: 406, headers: [] } }, body: emptyBody }
  }

  /** A refused dispatch has a receipt too. */
  function refuse(context: DispatchContext, error: AnnexError): AnnexError {
    given.onReceipt(emptyReceipt(context, error.code))
    return error
  }
}

/** A version says what it handles when it is tried. As in the SDK, `installation_setup` takes the setup of a site or space, too. */
function hasNoHandler({ target, context: { event } }: DispatchRequest): boolean {
  const { handledEvents } = target.version
  if (event === undefined || handledEvents == null) return false
  const handled: string[] = JSON.parse(handledEvents)
  const isSetup = event.type.endsWith('installation_setup')
  return !handled.includes(event.type) && !(isSetup && handled.includes('installation_setup'))
}

/** The response of a handler. @throws AnnexError `script_failed` when it returned none */
export function responseOf({ result, body }: DispatchOutcome): ScriptResponse {
  if (result.kind === 'response') return { head: result.head, body }
  throw new AnnexError('script_failed', 'The handler of the script returned no Response. Return one.')
}

/** @throws ScriptError with the error that the script threw, if it did */
export function assertHandled(outcome: DispatchOutcome): DispatchOutcome {
  if (outcome.result.kind === 'error') throw new ScriptError(outcome.result.error)
  return outcome
}
