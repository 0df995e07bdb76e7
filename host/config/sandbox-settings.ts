import { longestMs, type Setting } from './setting.ts'

/** Used time is counted in µs, in 32 bits. */
const longestCpuMs = 3_600_000

/** Limits of a script, its sandbox and its sandbox process. `docs/limits.md` says what happens over each. */
export const sandboxSettings = {
  SANDBOX_PROCESSES: {
    kind: 'integer',
    default: '1',
    min: 1,
    max: 64,
    meaning: 'Sandbox processes for the operator’s own integrations, and for each other publisher',
  },
  SANDBOX_PROCESSES_MAX: {
    kind: 'integer',
    default: '8',
    min: 1,
    max: 256,
    meaning:
      'Sandbox processes of all other publishers together; above it, a publisher shares the least busy one',
  },
  SANDBOX_SPARE: {
    kind: 'flag',
    default: 'true',
    meaning:
      'Keep one more sandbox process ready; without it the first request of a publisher waits for a process to start',
  },
  SANDBOX_REQUIRE: {
    kind: 'list',
    default: '',
    choices: ['namespace', 'watchdog'],
    meaning: 'Levels of the wall without which Annex does not start: namespace, watchdog',
  },
  SANDBOX_EVAL: {
    kind: 'flag',
    default: 'false',
    meaning: 'Let scripts use eval and new Function',
  },
  SANDBOX_RESIDENT_MB: {
    kind: 'integer',
    default: '768',
    min: 128,
    meaning:
      'Resident memory of a sandbox process, in MB; from 60 % on, sandboxes that rest make room; over it, the process is killed',
  },
  SANDBOX_HEAP_MB: {
    kind: 'integer',
    default: '64',
    min: 16,
    max: 1024,
    meaning: 'Heap of one sandbox, in MB',
  },
  SANDBOX_LOAD_MS: {
    kind: 'integer',
    default: '1000',
    min: 50,
    max: longestCpuMs,
    meaning: 'CPU time in which a script has to load, in ms',
  },
  SANDBOX_CPU_MS: {
    kind: 'integer',
    default: '1000',
    min: 50,
    max: longestCpuMs,
    meaning: 'CPU time of one dispatch, in ms',
  },
  SANDBOX_WALL_MS: {
    kind: 'integer',
    default: '30000',
    min: 100,
    max: longestMs,
    meaning: 'Time from a dispatch to its answer, in ms',
  },
  SANDBOX_WAIT_UNTIL_MS: {
    kind: 'integer',
    default: '65000',
    min: 0,
    max: longestMs,
    meaning: 'Time that waitUntil() has after the answer, in ms',
  },
  SANDBOX_BODY_BYTES: {
    kind: 'integer',
    default: '4294967296',
    min: 1024,
    meaning: 'Size of a request, or of an answer, in bytes; what is long passes through in pieces',
  },
  SANDBOX_PENDING: {
    kind: 'integer',
    default: '256',
    min: 1,
    meaning: 'Dispatches at once for one installation; more are answered with 503',
  },
  SANDBOX_CALLS: {
    kind: 'integer',
    default: '50',
    min: 1,
    meaning: 'Host calls (outbound requests, deliveries, tasks) in one dispatch',
  },
  SANDBOX_CALLS_AT_ONCE: {
    kind: 'integer',
    default: '32',
    min: 1,
    meaning: 'Host calls of one dispatch that may wait for their answer at once',
  },
  SANDBOX_FETCHES: {
    kind: 'integer',
    default: '50',
    min: 0,
    meaning: 'Outbound requests in one dispatch',
  },
  SANDBOX_FETCHES_AT_ONCE: {
    kind: 'integer',
    default: '16',
    min: 1,
    max: 256,
    meaning: 'Outbound requests of one installation at once; more wait for their turn',
  },
  SANDBOX_FETCH_MS: {
    kind: 'integer',
    default: '30000',
    min: 100,
    max: longestMs,
    meaning: 'Time for one outbound request, redirects included, in ms',
  },
  SANDBOX_FETCH_BYTES: {
    kind: 'integer',
    default: '4294967296',
    min: 1024,
    meaning: 'Size of the body of an outbound request, and of its answer, in bytes',
  },
  SANDBOX_TIMERS: { kind: 'integer', default: '1000', min: 0, meaning: 'Timers of one sandbox at once' },
  SANDBOX_LOG_BYTES: {
    kind: 'integer',
    default: '262144',
    min: 0,
    meaning: 'What one dispatch may log, in bytes',
  },
  SANDBOX_LOG_LINES: { kind: 'integer', default: '1000', min: 0, meaning: 'Lines that one dispatch may log' },
} as const satisfies Record<string, Setting>
