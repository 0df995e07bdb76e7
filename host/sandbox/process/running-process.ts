import type { QueuedDispatch } from '../dispatch/live-dispatch.ts'
import type { EndCause } from '../sandbox-errors.ts'
import type { SandboxTarget } from '../target.ts'

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
  /** Dispatches that run in it. */
  running: () => number
  /** Sandboxes that it holds. */
  loaded: () => number
  residentBytes: () => number
  /** Takes nothing more: ends when what runs in it is done. */
  retire: () => void
  close: () => Promise<void>
}

/** What a process has to say of itself. */
export type ProcessEvents = {
  /** Those that had begun have been rejected by then. */
  onEnd: (end: ProcessEnd) => void
  /** `culprit` keeps it busy for long. `notBegun` has been taken back from it, to run elsewhere. */
  onStuck: (culprit: SandboxTarget, notBegun: QueuedDispatch[]) => void
  /** These wait behind a script that was ended, and had not begun. They run where that one may run now. */
  onGivenBack: (notBegun: QueuedDispatch[]) => void
  /** Its memory drifts: a fresh one should take its place. */
  onDrift: () => void
}
