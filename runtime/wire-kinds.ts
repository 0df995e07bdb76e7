/**
 * The kinds of what passes between an isolate and its sandbox process. Numbers, as a post and a message cross at
 * every dispatch. `bridge.ts` says what goes with each.
 */

/** From the isolate. */
export const post = {
  answer: 1,
  done: 2,
  call: 3,
  abort: 4,
  log: 5,
  timer: 6,
  clearTimer: 7,
  chunk: 8,
  end: 9,
  fail: 10,
  pull: 11,
  cancel: 12,
} as const

/** Into the isolate. */
export const message = {
  dispatch: 1,
  dispatchWithStream: 2,
  environment: 3,
  settle: 4,
  reject: 5,
  fire: 6,
  chunk: 7,
  end: 8,
  fail: 9,
  pull: 10,
  cancel: 11,
  leave: 12,
} as const

/** The state of a dispatch after its answer. */
export const answered = {
  /** Promises given to `waitUntil` are still open: `done` follows. */
  open: 0,
  /** Nothing more comes. */
  done: 1,
  /** The body follows as the chunks of stream 0; then `done`. */
  streams: 2,
} as const

/** Levels of log lines, by their number in a post. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** The stream of a request's body, and that of its answer. A call's streams have the call's number. */
export const bodyStream = 0
