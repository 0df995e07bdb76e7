/**
 * The frames between the code inside an isolate (`runtime/web`, `runtime/sdk`) and the sandbox process that
 * holds it (`runtime/process`). Only numbers, text and bytes cross. Both sides import this file for its types alone;
 * the numbers stand in `wire-kinds.ts`.
 */
import type { logLevels } from './wire-kinds.ts'

/** A request or an answer without its body. Header pairs keep their order and repeats. */
export type RequestHead = { method: string; url: string; headers: [string, string][] }
export type AnswerHead = {
  status: number
  statusText?: string
  headers: [string, string][]
  /** In bytes, of a body that goes in pieces and whose length is known. */
  length?: number
}

/** The message of a dispatch to a script. `event.type` selects the handler; without an event it is `fetch`. */
export type DispatchMessage = {
  event?: { type: string; [field: string]: unknown }
  /** Of a `fetch`; its body comes beside it. */
  request?: RequestHead
}

/** An error on its way across the wall: nothing but text. */
export type PlainError = { name: string; message: string; stack?: string; exposeCode?: number }

/** The answer of a script. `none` is an event or task that was handled. */
export type DispatchResult =
  | { kind: 'response'; head: AnswerHead }
  | { kind: 'value'; value: unknown }
  | { kind: 'none' }
  | { kind: 'error'; error: PlainError }

export type LogLevel = (typeof logLevels)[number]

/** Bytes that are UTF-8 may cross as text: neither side then has to encode or decode them in code of its own. */
export type WireBody = string | ArrayBuffer

/**
 * Given to the isolate by its process. `kind` is one of `post`:
 *
 *     answer      id: dispatch · number: of `answered` · text: a DispatchResult as JSON · body
 *     done        id: dispatch          every promise of it has settled: nothing more comes
 *     call        id: call · number: 1 when a stream of the call's number follows · text: name, line feed, arguments as JSON · body
 *     abort       id: call
 *     log         id: dispatch (0: none known) · number: of `logLevels` · text
 *     timer       id: timer · number: delay in ms
 *     clearTimer  id: timer
 *     chunk       id: dispatch · number: stream · body          one for each `pull`
 *     end, fail   id: dispatch · number: stream · text: why it failed
 *     pull        id: dispatch · number: stream          asks for the next chunk of a stream from outside
 *     cancel      id: dispatch · number: stream          its reader has gone
 */
export type PostToProcess = (kind: number, id: number, number: number, text?: string, body?: WireBody) => void

/** Given to the isolate by its process: what it answers at once, without the host. */
export type AskProcess = {
  (op: 'random', length: number): ArrayBuffer
  /** JSON of the tables of the legacy multi-byte encodings. */
  (op: 'encoding-tables'): string
  /** Wrong bytes become U+FFFD, a byte order mark stays; lone surrogates become U+FFFD. */
  (op: 'utf8-decode', bytes: ArrayBuffer): string
  (op: 'utf8-encode', text: string): ArrayBuffer
  /** Compresses what follows the first `window` bytes, which came before; `-last` ends the data. */
  (op: 'deflate' | 'deflate-last', bytes: ArrayBuffer, window: number): ArrayBuffer
  /** The URL parser: the URL's href, or an empty text where there is none. */
  (op: 'url', text: string, base?: string): string
  /** A setter of a URL: the href that comes of it. */
  (op: UrlSetter, href: string, value: string): string
}

export type UrlSetter =
  | 'url-protocol'
  | 'url-username'
  | 'url-password'
  | 'url-host'
  | 'url-hostname'
  | 'url-port'
  | 'url-pathname'
  | 'url-search'
  | 'url-hash'

/**
 * Returned by the boot function. `kind` is one of `message`:
 *
 *     dispatch    id: dispatch · number: its environment · text: a DispatchMessage as JSON, or of a request alone its head: method,
 *                 URL, names and values of headers in turn, a line each (none can hold a line end) · body
 *     dispatchWithStream          the same; its body is stream 0
 *     environment id: its number · text: an environment as JSON, for the dispatches that name it
 *     settle      id: call · number: 1 when its body is a stream of the call's number · text: the value as JSON · body
 *     reject      id: call · text: a PlainError as JSON
 *     fire        id: timer
 *     chunk, end, fail, pull, cancel          as above, in the other direction
 *     leave       id: dispatch          its visitor has gone, and its answer has not ended
 */
export type ReceiveFromProcess = PostToProcess

/**
 * The boot function, which the prelude leaves under the global name `__annexBoot`, for the process to take and remove. It
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
