import type { DispatchContext, DispatchOutcome, SandboxTarget } from './target.ts'

/** A dispatch that waits for its answer, wherever it runs. It can move to another process until it begins. */
export type QueuedDispatch = {
  target: SandboxTarget
  /** The DispatchMessage as JSON. */
  message: string
  body: Uint8Array
  context: DispatchContext
  startedAtMs: number
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
  /** Calls of the script to the host, running ones by id so that they can be abandoned. */
  calls: number
  running: Map<number, AbortController>
}

/** Ends what the dispatch still asks of the host. */
export function abandonCalls(live: LiveDispatch): void {
  for (const controller of live.running.values()) controller.abort()
  live.running.clear()
}
