/**
 * What passes between the code inside an isolate (`runtime/web`, `runtime/sdk`) and the sandbox process that
 * holds it (`runtime/process`). Only text and bytes cross. Both sides import this file for its types alone.
 */

/** A request or an answer without its body. Header pairs keep their order and repeats. */
export type RequestHead = { method: string; url: string; headers: [string, string][] }
export type AnswerHead = { status: number; statusText?: string; headers: [string, string][] }

/** What a dispatch asks of a script. `event.type` selects the handler. */
export type DispatchMessage = {
  event: { type: string; [field: string]: unknown }
  environment: { [field: string]: unknown }
  /** Present when `event.type` is `fetch`; its body comes beside it as bytes. */
  request?: RequestHead
}

/** An error on its way across the wall: nothing but text. */
export type PlainError = { name: string; message: string; stack?: string; exposeCode?: number }

/** What the script answered. `none` is an event or task that was handled. */
export type DispatchResult =
  | { kind: 'response'; head: AnswerHead }
  | { kind: 'value'; value: unknown }
  | { kind: 'none' }
  | { kind: 'error'; error: PlainError }

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Messages from inside the isolate to its sandbox process. `id` is the dispatch, call or timer meant. */
export type GuestPost =
  /** The script answered. Body: the response's bytes. `done`: no `waitUntil` promise is left, and no `done` comes. */
  | { kind: 'answer'; id: number; result: DispatchResult; done?: boolean }
  /** Every `waitUntil` promise of the dispatch has settled, and so has its answer: nothing more comes. */
  | { kind: 'done'; id: number }
  /** An asynchronous call. Settled later by `settle` with the same id. `dispatch` is 0 when none is known. */
  | { kind: 'call'; id: number; dispatch: number; name: string; args: unknown }
  /** Abandons a call. */
  | { kind: 'abort'; id: number }
  | { kind: 'log'; dispatch: number; level: LogLevel; text: string }
  | { kind: 'timer'; id: number; delayMs: number }
  | { kind: 'clear-timer'; id: number }

/** Messages into the isolate. */
export type GuestMessage =
  | { kind: 'dispatch'; id: number; message: DispatchMessage }
  | { kind: 'settle'; id: number; ok: true; value: unknown }
  | { kind: 'settle'; id: number; ok: false; error: PlainError }
  | { kind: 'fire'; id: number }

/** Given to the isolate by its process: `text` is a GuestPost as JSON. */
export type PostToProcess = (text: string, bytes?: ArrayBuffer) => void

/** Given to the isolate by its process: synchronous helpers that need no host (random bytes, the clock). */
export type AskProcess = (op: 'random' | 'now' | 'time-origin', argument?: number) => ArrayBuffer | number

/** Returned by the boot function: `text` is a GuestMessage as JSON. */
export type ReceiveFromProcess = (text: string, bytes?: ArrayBuffer) => void

/**
 * What the prelude leaves behind, under the global name `__annexBoot`, for the process to take and remove. It
 * runs once in each isolate, before any code of an integration.
 *
 * `define` is then called with the CommonJS-shaped function of the integration's bundle.
 */
export type Boot = (
  post: PostToProcess,
  ask: AskProcess,
  /** `eval`, and functions made from text: an operator's setting. Off where it is not given. */
  allowEval?: boolean,
) => { receive: ReceiveFromProcess; define: (bundle: (module: { exports: unknown }) => void) => void }
