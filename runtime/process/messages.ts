/**
 * The types of frames, and the meaning of their fields. The host numbers sandboxes and dispatches; the number of a dispatch rises
 * by one with each dispatch to the process.
 */

/** Frames from the host. */
export const toProcess = {
  /** The first. number: heap of a sandbox in MB · text: the prelude that makes the web platform, or body: its snapshot. */
  platform: 1,
  /** sandbox · text: LoadOptions as JSON · body: the integration's bundle. */
  load: 2,
  unload: 3,
  /** number: tasks of this machine for each of its processors, in percent. The process answers with `pong`. */
  ping: 4,
  /** sandbox, dispatch: abandoned, or moved to another process after `stuck`. Its code never wakes again. */
  forget: 5,
  /** After `stuck`: dispatches without `forget` may begin. */
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
   * sandbox, dispatch: the cause · number: last dispatch begun · text: BrokenReason, line feed, message · body: the usage of the
   * sandbox's dispatches, as in `Budgets`.
   */
  broken: 5,
  /** sandbox, dispatch: its answer is too large. */
  tooLarge: 6,
  /** number: ms of a long stretch. No dispatch begins before `goOn`. */
  stuck: 7,
  /** Posts of the guest: sandbox, dispatch, and the fields that `bridge.ts` describes. */
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
  /** sandbox, dispatch: forgotten · number, extra: its usage in µs and KiB. */
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
  /** The wall time of one stretch, in ms. */
  wallMs: number
  /** The size of one piece of a body, or of an answer's head, in bytes. */
  pieceBytes: number
  timers: number
  allowEval: boolean
}

export type BrokenReason = 'cpu_limit' | 'starved' | 'memory_limit' | 'crashed'

const maxCallName = 100

/**
 * The name and the arguments of a call, in the form of `bridge.ts`. The process answers some calls itself, and the host all
 * others.
 *
 * @returns undefined when the text is not as the prelude posts it
 */
export function parseCall(text: string): { name: string; args: unknown } | undefined {
  const end = text.indexOf('\n')
  if (end < 1 || end > maxCallName) return undefined
  try {
    return { name: text.slice(0, end), args: JSON.parse(text.slice(end + 1)) }
  } catch {
    return undefined
  }
}
