import { setTimeout as sleep } from 'node:timers/promises'
import { AnnexError } from '../errors/annex-error.ts'
import { stoppingError } from '../errors/stopping.ts'
import { maxMoves, type QueuedDispatch } from './dispatch/live-dispatch.ts'
import { emptyReceipt } from './dispatch/to-receipt.ts'
import type { RunHostCall } from './host-calls.ts'
import { createOffenders } from './offenders.ts'
import type { OnLimit, PlatformSource, SandboxLimits, ScriptLog } from './sandbox-options.ts'
import type { ProcessEnd, SandboxProcess } from './process/running-process.ts'
import { createSandboxProcess } from './sandbox-process.ts'
import type { StartOptions } from './process/start-process.ts'
import { createProcessSlots } from './process-slots.ts'
import type { OnReceipt } from './receipt.ts'
import { type EndCause, ScriptError, suspendedError } from './sandbox-errors.ts'
import { aloneSlot, createSharedSlots } from './shared-slots.ts'
import type { DispatchContext, DispatchOutcome, SandboxTarget, Visitor } from './target.ts'

/** What a dispatch is given. */
export type DispatchRequest = {
  target: SandboxTarget
  /** The environment as JSON text: sent once for each change, not with each dispatch. */
  environment: string
  /** As the text of `dispatch` in `runtime/bridge.ts`. */
  message: string
  context: DispatchContext
  visitor?: Visitor
  body?: DispatchOutcome['body']
}

export type RunningProcess = { slot: string; pid: number | undefined; loaded: number; residentBytes: number }

export type Sandboxes = {
  dispatch: (request: DispatchRequest) => Promise<DispatchOutcome>
  /** What runs now. A slot is `GROUP#NUMBER` for a shared process, `GROUP!KEY` for one of a script that runs alone. */
  processes: () => RunningProcess[]
  /** Nothing counts any more that a target has done to its processes: it was resumed. By its key. */
  forgive: (key: string) => void
  /** Begins nothing more, and waits until what was given to `waitUntil` is done, for so long at most. */
  drain: (patienceMs: number) => Promise<void>
  close: () => Promise<void>
}

const shortLifeMs = 1_000
const drainLookMs = 25
/** Whose count is kept although it is 0: most are asked for again at once. */
const maxIdleKeys = 1_000
const nobody = new Uint8Array(0)

/**
 * All sandbox processes. Each publisher has its own; one that dies is replaced at once, and what had not begun in it moves
 * to its successor. So does what waits in one that a script keeps busy.
 */
export function createSandboxes(given: {
  platform: PlatformSource
  limits: SandboxLimits & { pending: number }
  /** Processes of the operator's own integrations, and of each other publisher. */
  processes: number
  /** Processes of all other publishers together. */
  processesMax: number
  runCall: RunHostCall
  onLog: ScriptLog
  onReceipt: OnReceipt
  onLimit: OnLimit
  onProcessEnd: (slot: string, cause: EndCause) => void
  /** A target has ended its process once too often. It is refused from here on for as long as storing that takes. */
  onSuspend: (target: SandboxTarget, reason: string) => void
  /** How processes are started; left out, without an enclosure. */
  start?: StartOptions
}): Sandboxes {
  const { limits } = given
  const waiting = new Map<string, number>()
  const offenders = createOffenders()
  /** Processes that take nothing more, until they end. */
  const retired = new Set<SandboxProcess>()
  const slots = createProcessSlots(start)
  const sharedSlot = createSharedSlots({
    perPublisher: given.processes,
    most: given.processesMax,
    running: slots.running,
  })
  let closing = false
  return {
    dispatch: (request) =>
      new Promise((resolve, reject) => {
        if (closing) throw stoppingError()
        takeTurn(request)
        const queued = toQueued(request, resolve, reject)
        try {
          run(queued)
        } catch (error) {
          queued.reject(error as Error)
        }
      }),
    processes: () =>
      slots.list().map(({ slot, process }) => ({
        slot,
        pid: process.pid,
        loaded: process.loaded(),
        residentBytes: process.residentBytes(),
      })),
    forgive: offenders.forgive,
    async drain(patienceMs) {
      closing = true
      const endMs = performance.now() + patienceMs
      while (all().some((running) => running.running() > 0) && performance.now() < endMs)
        await sleep(drainLookMs)
    },
    async close() {
      closing = true
      slots.stop()
      await Promise.all(all().map((running) => running.close()))
    },
  }

  function all(): SandboxProcess[] {
    return [...slots.list().map(({ process }) => process), ...retired]
  }

  /** Its turn ends with the first word on what became of it. */
  function toQueued(
    { target, environment, message, context, visitor, body = nobody }: DispatchRequest,
    resolve: QueuedDispatch['resolve'],
    reject: QueuedDispatch['reject'],
  ): QueuedDispatch {
    let isWaiting = true
    const end = () => {
      if (isWaiting) endTurn(target.key)
      isWaiting = false
    }
    return {
      target,
      environment,
      message,
      context,
      visitor,
      body,
      moves: 0,
      resolve(outcome) {
        end()
        resolve(outcome)
      },
      reject(error) {
        end()
        reject(error)
      },
    }
  }

  function run(queued: QueuedDispatch): void {
    const verdict = offenders.verdict(queued.target)
    if (verdict.kind === 'suspended') {
      return queued.reject(refuse(queued, suspendedError(queued.target.key, verdict.reason)))
    }
    const slot = verdict.kind === 'alone' ? aloneSlot(queued.target) : sharedSlot(queued.target)
    slots.in(slot).run(queued)
    if (verdict.kind === 'alone') slots.useAlone(slot)
  }

  function start(): SandboxProcess {
    const { platform, runCall, onLog, onReceipt, onLimit } = given
    const started: SandboxProcess = createSandboxProcess({
      ...{ platform, limits, runCall, onLog, onReceipt, onLimit },
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

  /** What has not begun where it was: it runs where its script may run now. */
  function runAgain(notBegun: QueuedDispatch[]): void {
    for (const queued of notBegun) {
      if (closing) queued.reject(stoppingError())
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
    if (closing) return runAgain(end.notBegun)
    if (end.cause.kind !== 'closed') given.onProcessEnd(slot ?? 'retired', end.cause)
    const reason = end.culprit && offenders.strike(end.culprit, end.cause)
    if (end.culprit !== undefined && reason !== undefined) given.onSuspend(end.culprit, reason)
    // One that ended as soon as it began would end again: it is started only when somebody asks.
    if (slot?.includes('#') && end.livedMs > shortLifeMs) slots.in(slot)
    for (const queued of end.notBegun) move(queued)
  }

  function move(queued: QueuedDispatch): void {
    queued.moves += 1
    if (queued.moves <= maxMoves) return run(queued)
    const message = 'The sandbox processes died before they could begin this.'
    queued.reject(refuse(queued, new AnnexError('sandbox_died', message)))
  }

  /** @throws AnnexError `sandbox_busy` when as many dispatches of the target as may already wait */
  function takeTurn({ target: { key }, context }: Pick<QueuedDispatch, 'target' | 'context'>): void {
    const count = waiting.get(key) ?? 0
    if (count >= limits.pending) {
      const message = `More than ${limits.pending} requests wait for ${key} (SANDBOX_PENDING).`
      throw refuse({ context }, new AnnexError('sandbox_busy', message))
    }
    waiting.set(key, count + 1)
  }

  function endTurn(key: string): void {
    const left = (waiting.get(key) ?? 1) - 1
    if (left === 0 && waiting.size > maxIdleKeys) waiting.delete(key)
    else waiting.set(key, left)
  }

  /** A dispatch that reaches no sandbox has used nothing; that it was refused is known all the same. */
  function refuse({ context }: Pick<QueuedDispatch, 'context'>, error: AnnexError): AnnexError {
    given.onReceipt(emptyReceipt(context, error.code))
    return error
  }
}

/** The answer of a script, when it did not fail. @throws ScriptError with what the script threw */
export function assertHandled(outcome: DispatchOutcome): DispatchOutcome {
  if (outcome.result.kind === 'error') throw new ScriptError(outcome.result.error)
  return outcome
}
