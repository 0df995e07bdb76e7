import type { ErrorCode } from '../errors.ts'
import type { SettingName } from './settings-table.ts'

/** A number that is not for operators to change, and stands in the file that keeps to it. */
export type ConstantLocation = { file: string; constant: string; unit: Unit }

export type Unit = 'MB' | 'bytes' | 'ms' | ''

export type Limit = {
  /** In `/metrics`, as the label `limit`. Limits that a caller cannot tell apart have one name. */
  id: string
  what: string
  at: { setting: SettingName; unit: Unit } | ConstantLocation
  /** The answer to the caller of the script. */
  code?: ErrorCode
  /** The effect on the script, and on its neighbours. */
  over: string
}

/**
 * Every limit of what a script may use, once. `docs/limits.md` is made of it, and `/metrics` counts by its ids. Who
 * goes over one reads in the integration's log which it was, its value and the setting.
 */
export const limitsTable: readonly Limit[] = [
  // Memory
  {
    id: 'memory',
    what: 'Heap of one sandbox',
    at: { setting: 'SANDBOX_HEAP_MB', unit: 'MB' },
    code: 'memory_limit',
    over: 'The sandbox ends; its other dispatches that had begun get `sandbox_died`, the rest run again.',
  },
  {
    id: 'memory',
    what: 'Resident memory of a sandbox process',
    at: { setting: 'SANDBOX_RESIDENT_MB', unit: 'MB' },
    code: 'memory_limit',
    over: 'The process is killed and replaced; dispatches of others that had begun get `sandbox_died`, the rest run again.',
  },
  {
    id: 'resting',
    what: 'Share of it, in %, from which on sandboxes that were used least recently make room',
    at: { file: 'host/sandbox/dispatch/loaded-sandboxes.ts', constant: 'evictFromPercent', unit: '' },
    over: 'Those that do nothing are ended, and loaded again when they are asked for. A process whose memory stays high is replaced.',
  },
  // Time
  {
    id: 'load',
    what: 'CPU time in which a script has to load',
    at: { setting: 'SANDBOX_LOAD_MS', unit: 'ms' },
    code: 'load_limit',
    over: 'The script is not loaded, and not tried again for a moment.',
  },
  {
    id: 'cpu',
    what: 'CPU time of one dispatch, from its start to the end of its `waitUntil`',
    at: { setting: 'SANDBOX_CPU_MS', unit: 'ms' },
    code: 'cpu_limit',
    over: 'The sandbox ends, as over its heap.',
  },
  {
    id: 'cpu',
    what: 'CPU time beyond it (as much again, and this) that one native operation may use which cannot be interrupted',
    at: { file: 'host/sandbox/process/watch-process.ts', constant: 'graceMs', unit: 'ms' },
    code: 'cpu_limit',
    over: 'The process is killed and replaced, as over its memory.',
  },
  {
    id: 'wall_clock',
    what: 'Wall-clock time of code that runs without a pause: 1.25 times the CPU time that is left, on a busy machine as many times more as it is slower; at most',
    at: { setting: 'SANDBOX_WALL_MS', unit: 'ms' },
    code: 'machine_busy',
    over: 'The sandbox ends, as over its heap. The script has not used its CPU time, so nothing counts against it; while it was being loaded, it is loaded again.',
  },
  {
    id: 'turn',
    what: 'Scripts that one process loads at once; the dispatches of others wait for their turn, and for memory',
    at: { file: 'host/sandbox/dispatch/loaded-sandboxes.ts', constant: 'loadsAtOnce', unit: '' },
    over: 'Visitors and events take turns.',
  },
  {
    id: 'turn',
    what: 'Time that a dispatch waits until its script begins',
    at: { setting: 'SANDBOX_WALL_MS', unit: 'ms' },
    code: 'sandbox_busy',
    over: 'The script is not called. An event or a task is tried again a second later, and no attempt counts.',
  },
  {
    id: 'wall_clock',
    what: 'Time from the beginning of the script to its answer',
    at: { setting: 'SANDBOX_WALL_MS', unit: 'ms' },
    code: 'wall_clock_limit',
    over: 'Nothing wakes this dispatch’s code again.',
  },
  {
    id: 'wait_until',
    what: 'Time for `waitUntil` after the answer',
    at: { setting: 'SANDBOX_WAIT_UNTIL_MS', unit: 'ms' },
    over: 'The answer is out already. Nothing wakes this dispatch’s code again, and its requests are abandoned.',
  },
  {
    id: 'heartbeat',
    what: 'Time in which a process that runs no script, and begins none, must answer; waiting for a processor does not count',
    at: { file: 'host/sandbox/process/watch-process.ts', constant: 'deafMs', unit: 'ms' },
    code: 'sandbox_died',
    over: 'The process is killed and replaced.',
  },
  // Requests and answers
  {
    id: 'visitor_rate',
    what: 'Requests of one visitor to one public endpoint, or to one open operation of the API, in 10 seconds',
    at: { setting: 'RATE_LIMIT_VISITOR', unit: '' },
    code: 'rate_limited',
    over: 'The script is not called.',
  },
  {
    id: 'token_rate',
    what: 'Requests to the API with one token in 10 seconds',
    at: { setting: 'RATE_LIMIT_TOKEN', unit: '' },
    code: 'rate_limited',
    over: 'The request is refused before its route runs.',
  },
  {
    id: 'request_size',
    what: 'Request',
    at: { setting: 'SANDBOX_BODY_BYTES', unit: 'bytes' },
    code: 'body_too_large',
    over: 'The script is not called: this one is the visitor’s doing.',
  },
  {
    id: 'body_size',
    what: 'JSON body of a record, or of settings. Larger settings that are stored are still read',
    at: { file: 'schemas/list-operations.ts', constant: 'maxJsonBytes', unit: 'bytes' },
    code: 'body_too_large',
    over: 'Nothing is stored. Events, tasks, pages and what a script is asked have limits of their own.',
  },
  {
    id: 'request_time',
    what: 'Time in which a request comes in, its body included',
    at: { file: 'host/http/listen.ts', constant: 'requestMs', unit: 'ms' },
    over: 'The connection is closed with 408.',
  },
  {
    id: 'body_pause',
    what: 'Pause within the body of a request; a script that reads slowly makes none',
    at: { file: 'host/http/guard-connections.ts', constant: 'bodyPauseMs', unit: 'ms' },
    over: 'The connection is closed, with 408 unless the answer has begun. The log of Annex says so once a minute.',
  },
  {
    id: 'connections',
    what: 'Connections of one address that is not a trusted proxy, and at most a quarter of the files that Annex may open',
    at: { file: 'host/http/guard-connections.ts', constant: 'mostOfAddress', unit: '' },
    over: 'Further connections are closed. The log of Annex says so once a minute.',
  },
  {
    id: 'answer_size',
    what: 'Answer',
    at: { setting: 'SANDBOX_BODY_BYTES', unit: 'bytes' },
    code: 'answer_too_large',
    over: 'An answer that is on its way already is broken off.',
  },
  {
    id: 'answer_size',
    what: 'Answer that is JSON: a rendered component, computed content',
    at: { file: 'host/config/json-sizes.ts', constant: 'maxJsonAnswerBytes', unit: 'bytes' },
    code: 'answer_too_large',
    over: 'The caller gets an error.',
  },
  {
    id: 'answer_size',
    what: 'Published script of a site',
    at: { file: 'host/dispatches/published-scripts.ts', constant: 'maxScriptBytes', unit: 'bytes' },
    code: 'answer_too_large',
    over: 'Its visitors get an error.',
  },
  {
    id: 'piece',
    what: 'What crosses in one piece: the head of an answer, the arguments of a host call',
    at: { file: 'host/sandbox/process/connection.ts', constant: 'pieceBytes', unit: 'bytes' },
    code: 'answer_too_large',
    over: 'A host call is refused; the script sees why. Bodies are cut into pieces, and never over it.',
  },
  {
    id: 'dispatches',
    what: 'Dispatches of one installation at once',
    at: { setting: 'SANDBOX_PENDING', unit: '' },
    code: 'sandbox_busy',
    over: 'The script is not called.',
  },
  {
    id: 'frame',
    what: 'What a frame on the socket between host and sandbox process may have beyond a body',
    at: { file: 'host/sandbox/process/connection.ts', constant: 'frameOverheadBytes', unit: 'bytes' },
    code: 'sandbox_died',
    over: 'The process is killed: it is not what we started.',
  },
  // What a script asks for
  {
    id: 'calls',
    what: 'Host calls in one dispatch',
    at: { setting: 'SANDBOX_CALLS', unit: '' },
    over: 'The call is rejected; the script sees why.',
  },
  {
    id: 'calls_at_once',
    what: 'Host calls of one dispatch that wait for their answer',
    at: { setting: 'SANDBOX_CALLS_AT_ONCE', unit: '' },
    over: 'The call is rejected; the script sees why.',
  },
  {
    id: 'fetches',
    what: 'Outbound requests in one dispatch',
    at: { setting: 'SANDBOX_FETCHES', unit: '' },
    over: '`fetch` rejects with a TypeError that says so.',
  },
  {
    id: 'fetches_at_once',
    what: 'Outbound requests of one installation at once',
    at: { setting: 'SANDBOX_FETCHES_AT_ONCE', unit: '' },
    over: 'The others wait for their turn; their time runs.',
  },
  {
    id: 'fetch_time',
    what: 'Time for one outbound request, redirects included',
    at: { setting: 'SANDBOX_FETCH_MS', unit: 'ms' },
    over: '`fetch` rejects with a TypeError that says so (`egress_timeout`).',
  },
  {
    id: 'fetch_size',
    what: 'Body of an outbound request, and of its answer, decompressed',
    at: { setting: 'SANDBOX_FETCH_BYTES', unit: 'bytes' },
    over: '`fetch` rejects with a TypeError that says so (`egress_too_large`).',
  },
  {
    id: 'fetch_size',
    what: 'What the answer may have beside its body: heads, frames of chunks; and eight times its body',
    at: { file: 'host/egress/fetch-limits.ts', constant: 'besideAnyBody', unit: 'bytes' },
    over: '`fetch`, or reading the body, rejects with a TypeError that says so (`egress_too_large`).',
  },
  {
    id: 'redirects',
    what: 'Redirects of one outbound request',
    at: { file: 'host/egress/redirects.ts', constant: 'maxRedirects', unit: '' },
    over: '`fetch` rejects with a TypeError that says so.',
  },
  {
    id: 'hops',
    what: 'Scripts of this Annex that call each other in a row',
    at: { file: 'host/egress/loop-guard.ts', constant: 'maxHops', unit: '' },
    over: '`fetch` rejects with a TypeError that says so (`egress_loop`).',
  },
  {
    id: 'event_size',
    what: 'Event that is published, as JSON',
    at: { file: 'host/config/json-sizes.ts', constant: 'maxEventBytes', unit: 'bytes' },
    code: 'body_too_large',
    over: 'It is not stored, and its publisher told so.',
  },
  {
    id: 'delivery_size',
    what: 'Event of `queueDelivery`, as JSON',
    at: { file: 'host/config/json-sizes.ts', constant: 'maxDeliveryBytes', unit: 'bytes' },
    over: 'The call is rejected; the script sees why.',
  },
  {
    id: 'task_size',
    what: 'Task of `queueTask`, as JSON',
    at: { file: 'host/config/json-sizes.ts', constant: 'maxTaskBytes', unit: 'bytes' },
    over: 'The call is rejected; the script sees why.',
  },
  {
    id: 'timers',
    what: 'Timers of one sandbox at once',
    at: { setting: 'SANDBOX_TIMERS', unit: '' },
    over: 'The timer does not fire; the log says so.',
  },
  {
    id: 'log_size',
    what: 'What one dispatch may log',
    at: { setting: 'SANDBOX_LOG_BYTES', unit: 'bytes' },
    over: 'The lines after it are dropped; the log says so.',
  },
  {
    id: 'log_lines',
    what: 'Lines that one dispatch may log',
    at: { setting: 'SANDBOX_LOG_LINES', unit: '' },
    over: 'The lines after it are dropped; the log says so.',
  },
  {
    id: 'crypto_keys',
    what: 'Keys of `crypto.subtle` that one sandbox holds',
    at: { file: 'runtime/process/crypto/crypto-keys.ts', constant: 'maxKeys', unit: '' },
    over: 'The key that was used least recently is gone; its next use says so.',
  },
  // What is stored
  {
    id: 'stored_value',
    what: 'A value of `context.storage`, as JSON',
    at: { setting: 'STORAGE_VALUE_BYTES', unit: 'bytes' },
    over: '`put` rejects; the script sees why.',
  },
  {
    id: 'stored',
    what: 'All values of `context.storage` of one level',
    at: { setting: 'STORAGE_LEVEL_MB', unit: 'MB' },
    over: '`put` rejects (`storage_quota`). Values that have expired do not count.',
  },
  {
    id: 'content',
    what: 'Pages of all kept revisions of an organization',
    at: { setting: 'CONTENT_QUOTA_MB', unit: 'MB' },
    over: 'The revision is not stored (507 `content_quota`). Pages can still be read and deleted, and replaced by texts of at most half their size.',
  },
  // What is deployed
  {
    id: 'bundle',
    what: 'A script with all that it imports',
    at: { file: 'host/bundle/bundle-script.ts', constant: 'maxBundleBytes', unit: 'bytes' },
    code: 'bundle_failed',
    over: 'The version is not deployed; the one before it stays.',
  },
]

const byCode = new Map<string, string>()
for (const { id, code } of limitsTable) {
  if (code !== undefined && !byCode.has(code)) byCode.set(code, id)
}
// A process dies of many things; only some of them are limits, and those are counted where they are seen.
byCode.delete('sandbox_died')

/** The limit that a dispatch which ended with this code has hit, if one. */
export const limitOfCode = (code: string): string | undefined => byCode.get(code)
