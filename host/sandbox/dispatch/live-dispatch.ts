import type { DispatchContext, DispatchOutcome, SandboxTarget, Visitor } from '../target.ts'
import type { BodySink } from './body-sink.ts'
import type { BodySource } from './body-streams.ts'

/** How often a dispatch that had not begun is begun elsewhere. */
export const maxMoves = 5

/** A dispatch that waits for its answer, wherever it runs. It can move to another process until it begins. */
export type QueuedDispatch = {
  target: SandboxTarget
  /** The environment as JSON. */
  environment: string
  /** As the text of `dispatch` in `runtime/bridge.ts`. */
  message: string
  body: DispatchOutcome['body']
  context: DispatchContext
  visitor: Visitor | undefined
  /** How many processes have died before it began. */
  moves: number
  resolve: (outcome: DispatchOutcome) => void
  reject: (error: Error) => void
}

/** A dispatch that a process has: until it is `done`, `waitUntil` promises and streams included. */
export type LiveDispatch = {
  id: number
  sandbox: number
  queued: QueuedDispatch
  startedAtMs: number
  /** By the clock that never jumps. */
  sentMs: number
  answeredMs: number | undefined
  /** As in a receipt. */
  outcome: string
  /** HTTP status of its answer, where it gave one. */
  status: number | undefined
  /** It ends so long after it moved last: the wall clock until the answer, then the time that `waitUntil` has. */
  patienceMs: number
  /** When it was sent or answered, or a piece of its bodies came. */
  movedMs: number
  /** Calls of the script to the host, running ones by id so that they can be abandoned. */
  calls: number
  egressCalls: number
  egressBytes: number
  logLines: number
  logBytes: number
  running: Map<number, AbortController> | undefined
  /** Bodies on their way into the sandbox and out of it: 0 is the dispatch's own, the others are those of calls. */
  sources: Map<number, BodySource> | undefined
  sinks: Map<number, BodySink> | undefined
}

export const isAnswered = (live: LiveDispatch): boolean => live.answeredMs !== undefined
