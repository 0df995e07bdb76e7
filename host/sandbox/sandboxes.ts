import { createHash } from 'node:crypto'
import { AnnexError } from '../errors/annex-error.ts'
import type { RunHostCall } from './host-calls.ts'
import { createOffenders } from './offenders.ts'
import { maxMoves, type QueuedDispatch } from './process/live-dispatch.ts'
import type { SandboxLimits, ScriptLog } from './process/process-options.ts'
import { createSandboxProcess, type ProcessEnd, type SandboxProcess } from './process/sandbox-process.ts'
import type { SandboxProgram } from './process/start-process.ts'
import { type EndCause, ScriptError } from './sandbox-errors.ts'
import type { DispatchContext, DispatchOutcome, SandboxTarget } from './target.ts'

export type Sandboxes = {
  dispatch: (
    target: SandboxTarget,
    /** A `DispatchMessage` of the bridge, as JSON text. */
    message: string,
    context: DispatchContext,
    body?: Uint8Array,
  ) => Promise<DispatchOutcome>
  /** What runs now. A slot is `GROUP#NUMBER` for a shared process, `GROUP!KEY` for one of a script that runs alone. */
  processes: () => { slot: string; pid: number | undefined }[]
  close: () => Promise<void>
}

const shortLifeMs = 1_000
/** Longer than a dispatch and its `waitUntil` together. */
const aloneIdleMs = 120_000
const nobody = new Uint8Array(0)

/**
 * All sandbox processes. Each group has its own, started when first needed; one that dies is replaced at once,
 * and what had not begun in it moves to its successor.
 */
export function createSandboxes(given: {
  prelude: string
  limits: SandboxLimits & { pending: number }
  processesPerGroup: number
  runCall: RunHostCall
  onLog: ScriptLog
  onProcessEnd: (slot: string, cause: EndCause) => void
  program?: SandboxProgram
}): Sandboxes {
  const { limits } = given
  const slots = new Map<string, SandboxProcess>()
  const waiting = new Map<string, number>()
  const idleTimers = new Map<string, NodeJS.Timeout>()
  const offenders = createOffenders()
  let closing = false
  return {
    async dispatch(target, message, context, body = nobody) {
      if (closing) throw new AnnexError('unavailable', 'Annex is stopping.')
      const release = takeTurn(target.key)
      const outcome = new Promise<DispatchOutcome>((resolve, reject) => {
        run({ target, message, body, context, moves: 0, resolve, reject })
      })
      return outcome.finally(release)
    },
    processes: () => [...slots].map(([slot, { pid }]) => ({ slot, pid })),
    async close() {
      closing = true
      await Promise.all([...slots.values()].map((running) => running.close()))
    },
  }

  function run(queued: QueuedDispatch): void {
    const verdict = offenders.verdict(queued.target)
    if (verdict.kind === 'rests') return queued.reject(restsError(queued.target, verdict.ms))
    const slot = verdict.kind === 'alone' ? aloneSlot(queued.target) : sharedSlot(queued.target)
    processIn(slot).run(queued)
    if (verdict.kind === 'alone') closeWhenIdle(slot)
  }

  function sharedSlot({ key, group }: SandboxTarget): string {
    return `${group}#${slotOf(key, given.processesPerGroup)}`
  }

  /** @throws AnnexError `sandbox_busy` when as many dispatches of the target as may already wait */
  function takeTurn(key: string): () => void {
    const count = waiting.get(key) ?? 0
    if (count >= limits.pending) {
      throw new AnnexError(
        'sandbox_busy',
        `More than ${limits.pending} requests wait for ${key} (SANDBOX_PENDING).`,
      )
    }
    waiting.set(key, count + 1)
    return () => {
      const left = (waiting.get(key) ?? 1) - 1
      if (left === 0) waiting.delete(key)
      else waiting.set(key, left)
    }
  }

  function processIn(slot: string): SandboxProcess {
    const found = slots.get(slot)
    if (found !== undefined) return found
    const { prelude, runCall, onLog, program } = given
    const running = createSandboxProcess({
      prelude,
      limits,
      runCall,
      onLog,
      ...(program && { program }),
      onEnd: (end) => replace(slot, running, end),
    })
    slots.set(slot, running)
    return running
  }

  function replace(slot: string, ended: SandboxProcess, end: ProcessEnd): void {
    if (slots.get(slot) === ended) slots.delete(slot)
    if (closing) {
      for (const queued of end.notBegun) queued.reject(new AnnexError('unavailable', 'Annex is stopping.'))
      return
    }
    if (end.cause.kind !== 'closed') given.onProcessEnd(slot, end.cause)
    if (end.culprit !== undefined) offenders.strike(end.culprit)
    // One that ended as soon as it began would end again: it is started only when somebody asks.
    if (slot.includes('#') && end.livedMs > shortLifeMs) processIn(slot)
    for (const queued of end.notBegun) move(queued)
  }

  function move(queued: QueuedDispatch): void {
    queued.moves += 1
    if (queued.moves <= maxMoves) return run(queued)
    queued.reject(new AnnexError('sandbox_died', 'The sandbox processes died before they could begin this.'))
  }

  function closeWhenIdle(slot: string): void {
    clearTimeout(idleTimers.get(slot))
    const close = () => {
      const idle = slots.get(slot)
      slots.delete(slot)
      idleTimers.delete(slot)
      void idle?.close()
    }
    idleTimers.set(slot, setTimeout(close, aloneIdleMs).unref())
  }
}

const aloneSlot = ({ group, key }: SandboxTarget): string => `${group}!${key}`

const restsError = ({ integration }: SandboxTarget, ms: number): AnnexError =>
  new AnnexError(
    'sandbox_rests',
    `${integration} has ended its sandbox process again and again. It is tried again in ${Math.ceil(ms / 1000)} s.`,
  )

/** The same installation always runs in the same slot: one isolate holds its state. */
function slotOf(key: string, count: number): number {
  return count === 1 ? 0 : createHash('sha256').update(key).digest().readUInt32LE(0) % count
}

/** The answer of a script, when it did not fail. @throws ScriptError with what the script threw */
export function assertHandled(outcome: DispatchOutcome): DispatchOutcome {
  if (outcome.result.kind === 'error') throw new ScriptError(outcome.result.error)
  return outcome
}
