/**
 * The types of frames, and which of their numbers mean something. A sandbox is named by the number that the host
 * gave it, a dispatch by its own, which rises by one with every dispatch to the process.
 */

/** Frames from the host. */
export const toProcess = {
  /** The first. number: heap of a sandbox in MB · text: the prelude that makes the web platform, or body: its snapshot. */
  platform: 1,
  /** sandbox · text: LoadOptions as JSON · body: the integration's bundle. */
  load: 2,
  unload: 3,
  /** number: tasks of this machine for each of its processors, in percent. Answered with `pong` by a process that still listens. */
  ping: 4,
  /** sandbox, dispatch: given up, or while the process is stuck, given elsewhere. Its code is not woken any more. */
  forget: 5,
  /** After `stuck`: what was not forgotten may begin. */
  goOn: 6,
  /** sandbox, number · text: an environment. */
  environment: 7,
  /** sandbox, dispatch, number: its environment · flags: `withStream` · text: as `dispatch` in `bridge.ts` · body. */
  dispatch: 8,
  /** sandbox, dispatch, number: the call · flags: `withStream` · text: a value as JSON · body. */
  settle: 9,
  /** sandbox, dispatch, number: the call · text: a PlainError as JSON. */
  reject: 10,
  /** sandbox, dispatch, number: the stream; `chunk` has a body, `fail` a text. */
  chunk: 11,
  end: 12,
  fail: 13,
  pull: 14,
  cancel: 15,
  /** sandbox, dispatch: its visitor has gone, and its answer has not ended. */
  leave: 16,
} as const

/** Frames from a sandbox process. The host checks each. */
export const toHost = {
  /** number: 1 when it makes isolates from a snapshot. */
  ready: 1,
  pong: 2,
  /** sandbox. */
  loaded: 3,
  /** sandbox · text: a PlainError as JSON. */
  loadFailed: 4,
  /**
   * sandbox, dispatch: whose doing it was · number: last dispatch begun · text: BrokenReason, line feed, message · body: what
   * its dispatches have used, as `Budgets` has it.
   */
  broken: 5,
  /** sandbox, dispatch: it has answered with more than it may. */
  tooLarge: 6,
  /** number: ms of a stretch that kept the others waiting. Nothing begins before `goOn`. */
  stuck: 7,
  /** What the guest said: sandbox, dispatch, and what `bridge.ts` says of each. */
  answer: 8,
  done: 9,
  call: 10,
  abort: 11,
  log: 12,
  chunk: 13,
  end: 14,
  fail: 15,
  pull: 16,
  cancel: 17,
  /** sandbox, dispatch: forgotten · number, extra: what it has used, in µs and KiB. */
  used: 18,
} as const

/** Of a frame that announces a stream in place of a body. */
export const withStream = 1

/** In `load`. */
export type LoadOptions = {
  /** Name of the script in stack traces. */
  file: string
  /** CPU time of one dispatch, in ms. */
  cpuMs: number
  /** CPU time of the script's top level, in ms. */
  loadMs: number
  /** What any stretch may take by the wall clock at most, in ms. */
  wallMs: number
  /** Size of what crosses in one piece, in bytes. */
  pieceBytes: number
  timers: number
  allowEval: boolean
}

export type BrokenReason = 'cpu_limit' | 'starved' | 'memory_limit' | 'crashed'
