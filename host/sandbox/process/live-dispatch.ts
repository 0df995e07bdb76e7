import type { DispatchContext, DispatchOutcome, SandboxTarget } from '../target.ts'

/** How often a dispatch that had not begun is begun elsewhere. */
export const maxMoves = 5

/** A dispatch that waits for its answer, wherever it runs. It can move to another process until it begins. */
export type QueuedDispatch = {
  target: SandboxTarget
  /** The DispatchMessage as JSON. */
  message: string
  body: Uint8Array
  context: DispatchContext
  /** How many processes have died before it began. */
  moves: number
  resolve: (outcome: DispatchOutcome) => void
  reject: (error: Error) => void
}

/** A dispatch that a process has: until it is `done`, `waitUntil` promises included. */
export type LiveDispatch = {
  id: number
  sandbox: number
  queued: QueuedDispatch
  answered: boolean
  /** Ends it: the wall clock until the answer, then the time that `waitUntil` has. */
  timer: NodeJS.Timeout
  /** Calls of the script to the host, running ones by id so that they can be abandoned. */
  calls: number
  logLines: number
  running: Map<number, AbortController>
}
