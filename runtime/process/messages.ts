import type { PlainError } from '../bridge.ts'

/** Headers of the frames that the host sends. Sandboxes are named by a number that the host chooses. */
export type HostHeader =
  /** The first frame. Text: the prelude that makes the web platform. */
  | { type: 'platform' }
  /** Text: the integration's bundle. */
  | {
      type: 'load'
      sandbox: number
      /** Name of the script in stack traces. */
      file: string
      heapMb: number
      /** CPU time of one dispatch, in ms. */
      cpuMs: number
      /** Size of an answer, and of a call's body, in bytes. */
      bodyBytes: number
    }
  /** Text: a GuestMessage of kind `dispatch`. Ids rise by one with every dispatch to the process. */
  | { type: 'dispatch'; sandbox: number; id: number }
  /** Text: a GuestMessage of kind `settle`. `dispatch` is the one that made the call. */
  | { type: 'settle'; sandbox: number; dispatch: number }
  /** The host has given up a dispatch: its CPU is no longer counted, its late answer is dropped. */
  | { type: 'forget'; sandbox: number; id: number }
  | { type: 'unload'; sandbox: number }
  /** Answered with `pong` by a process that still listens. */
  | { type: 'ping' }

/** Headers of the frames that a sandbox process sends. The host checks each against a schema. */
export type ProcessHeader =
  | { type: 'ready'; snapshot: boolean }
  | { type: 'pong' }
  | { type: 'loaded'; sandbox: number }
  | { type: 'load-failed'; sandbox: number; error: PlainError }
  /** Text: a GuestPost. `dispatch` is the dispatch on whose behalf the isolate was running. */
  | { type: 'post'; sandbox: number; dispatch: number }
  /** The dispatch has answered with more than it may. */
  | { type: 'too-large'; sandbox: number; dispatch: number }
  /** The isolate is gone. Of its dispatches, those up to `begun` had begun. */
  | {
      type: 'broken'
      sandbox: number
      reason: BrokenReason
      dispatch: number
      begun: number
      message: string
    }

export type BrokenReason = 'cpu_limit' | 'memory_limit' | 'crashed'
