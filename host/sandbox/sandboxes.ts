import { createHash } from 'node:crypto'
import { AnnexError } from '../errors/annex-error.ts'
import type { RunHostCall } from './host-calls.ts'
import type { QueuedDispatch } from './process/live-dispatch.ts'
import {
  createSandboxProcess,
  type SandboxLimits,
  type SandboxProcess,
  type ScriptLog,
} from './process/sandbox-process.ts'
import { type EndCause, ScriptError } from './sandbox-errors.ts'
import type { DispatchContext, DispatchOutcome, SandboxGroup, SandboxTarget } from './target.ts'

export type Sandboxes = {
  dispatch: (
    target: SandboxTarget,
    /** A `DispatchMessage` of the bridge, as JSON text. */
    message: string,
    context: DispatchContext,
    body?: Uint8Array,
  ) => Promise<DispatchOutcome>
  /** Settles when the first process of each group can run isolates. */
  ready: () => Promise<void>
  /** What runs now, for operators and tests. */
  processes: () => { group: SandboxGroup; pid: number | undefined }[]
  close: () => Promise<void>
}

const maxMoves = 3
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
  onProcessEnd: (group: SandboxGroup, cause: EndCause) => void
}): Sandboxes {
  const { limits } = given
  const slots = new Map<string, SandboxProcess>()
  const waiting = new Map<string, number>()
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
    async ready() {
      await Promise.all([processIn('operator', 0).ready, processIn('third-party', 0).ready])
    },
    processes: () =>
      [...slots].map(([slot, { pid }]) => ({ group: slot.split('#')[0] as SandboxGroup, pid })),
    async close() {
      closing = true
      await Promise.all([...slots.values()].map((running) => running.close()))
    },
  }

  function run(queued: QueuedDispatch): void {
    const { key, group } = queued.target
    processIn(group, slotOf(key, given.processesPerGroup)).run(queued)
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

  function processIn(group: SandboxGroup, index: number): SandboxProcess {
    const slot = `${group}#${index}`
    const found = slots.get(slot)
    if (found !== undefined) return found
    const { prelude, runCall, onLog } = given
    const running = createSandboxProcess({
      prelude,
      limits,
      runCall,
      onLog,
      onEnd: (notBegun, cause) => replace(slot, group, index, notBegun, cause),
    })
    slots.set(slot, running)
    return running
  }

  function replace(
    slot: string,
    group: SandboxGroup,
    index: number,
    notBegun: QueuedDispatch[],
    cause: EndCause,
  ): void {
    slots.delete(slot)
    if (closing) {
      for (const queued of notBegun) queued.reject(new AnnexError('unavailable', 'Annex is stopping.'))
      return
    }
    given.onProcessEnd(group, cause)
    processIn(group, index)
    for (const queued of notBegun) {
      queued.moves += 1
      if (queued.moves <= maxMoves) run(queued)
      else
        queued.reject(
          new AnnexError('sandbox_died', 'The sandbox processes died before they could begin this.'),
        )
    }
  }
}

/** The same installation always runs in the same slot: one isolate holds its state. */
function slotOf(key: string, count: number): number {
  return count === 1 ? 0 : createHash('sha256').update(key).digest().readUInt32LE(0) % count
}

/** The answer of a script, when it did not fail. @throws ScriptError with what the script threw */
export function assertHandled(outcome: DispatchOutcome): DispatchOutcome {
  if (outcome.result.kind === 'error') throw new ScriptError(outcome.result.error)
  return outcome
}
