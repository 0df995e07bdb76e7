import type { PlainError } from '../../runtime/bridge.ts'
import type { BrokenReason } from '../../runtime/process/messages.ts'
import { AnnexError } from '../errors.ts'
import type { BlackBoxRecord } from './process/start-process.ts'

/** The error text of isolated-vm when it stops a script. */
export const timedOut = 'Script execution timed out.'
/** The error text of a sandbox process when wall time stopped a script that had not used its CPU time. */
export const starved = 'The machine left the script too little CPU time.'

/** Why a sandbox process ended. */
export type EndCause =
  | { kind: 'cpu_limit' | 'memory_limit' | 'deaf' | 'died' | 'closed' }
  | { kind: 'garbage'; message: string }

type Limits = { heapMb: number; residentMb: number; cpuMs: number; wallMs: number }

/**
 * An error that a script threw. Its text and stack are for the log: no visitor may read them. An `ExposableError` of the SDK is
 * the exception: its message and status reach the caller.
 */
export class ScriptError extends AnnexError {
  readonly script: PlainError

  constructor(script: PlainError) {
    if (script.exposeCode !== undefined) super('script_error', script.message)
    else
      super(
        'script_failed',
        'The integration failed to handle this. Its log holds why, under the request id.',
      )
    this.script = script
  }

  override get status(): number {
    return this.script.exposeCode ?? super.status
  }
}

const cpuLimitError = (limits: Limits): AnnexError =>
  new AnnexError('cpu_limit', `The script used more than ${limits.cpuMs} ms of CPU time (SANDBOX_CPU_MS).`)

export const loadLimitError = (limits: { loadMs: number }): AnnexError =>
  new AnnexError(
    'load_limit',
    `The script used more than ${limits.loadMs} ms of CPU time to load (SANDBOX_LOAD_MS).`,
  )

export const wallClockError = (limits: Limits): AnnexError =>
  new AnnexError(
    'wall_clock_limit',
    `The script did not answer within ${limits.wallMs} ms (SANDBOX_WALL_MS).`,
  )

/** Other dispatches have kept the sandbox process busy. The script has not begun. */
export const noTurnError = (limits: { wallMs: number }): AnnexError =>
  new AnnexError(
    'sandbox_busy',
    `The sandbox process was busy with other dispatches for ${limits.wallMs} ms (SANDBOX_WALL_MS), so the script did not begin. Try again.`,
  )

/** Wall time stopped a script that had not used its CPU time. */
export const starvedError = (): AnnexError =>
  new AnnexError(
    'machine_busy',
    'The machine is too busy: the script got too little CPU time to come to an end. Try again, or give Annex more processors.',
  )

/** For an answer that has begun: each piece restarts the time limit. */
export const stalledBodyError = (limits: Limits): AnnexError =>
  new AnnexError(
    'wall_clock_limit',
    `No piece of the script's answer came or was read for ${limits.wallMs} ms (SANDBOX_WALL_MS).`,
  )

export const waitUntilError = ({ waitUntilMs }: { waitUntilMs: number }): AnnexError =>
  new AnnexError(
    'wall_clock_limit',
    `It took more than ${waitUntilMs} ms after the answer (SANDBOX_WAIT_UNTIL_MS).`,
  )

export const answerTooLargeError = (limits: { bodyBytes: number }): AnnexError =>
  new AnnexError(
    'answer_too_large',
    `The script's answer is larger than ${limits.bodyBytes} bytes (SANDBOX_BODY_BYTES).`,
  )

/** @param key the installation's id, or the integration's name where it is suspended as a whole */
export const suspendedError = (key: string, reason: string): AnnexError =>
  new AnnexError(
    'installation_suspended',
    `${key} is suspended. ${reason} Load a mended version of the script, or resume this one: ` +
      `\`npx annex resume ${key.startsWith('inst_') ? key : `--integration ${key}`}\`.`,
  )

export const requestTooLargeError = (limits: { bodyBytes: number }): AnnexError =>
  new AnnexError(
    'body_too_large',
    `The request is larger than ${limits.bodyBytes} bytes (SANDBOX_BODY_BYTES).`,
  )

export const uploadTooLargeError = (limits: { fetchBytes: number }): AnnexError =>
  new AnnexError(
    'egress_too_large',
    `The body of the outbound request is larger than ${limits.fetchBytes} bytes (SANDBOX_FETCH_BYTES).`,
  )

/** For a dispatch that ended because of another one in its sandbox or its process. */
export class CutOffError extends AnnexError {
  constructor() {
    super(
      'sandbox_died',
      'The sandbox ended while it handled this, because of what else ran in it. It is running again: try again.',
    )
  }
}

const diedError = (): AnnexError =>
  new AnnexError('sandbox_died', 'The sandbox ended while it handled this. It is running again: try again.')

/** For a body that is being read when its dispatch ends. */
export const bodyBrokeOffError = (): AnnexError =>
  new AnnexError('sandbox_died', 'The script ended before its body was sent to its end.')

const heapLimitError = ({ heapMb }: Pick<Limits, 'heapMb'>): AnnexError =>
  new AnnexError('memory_limit', `The script used more than ${heapMb} MB of heap (SANDBOX_HEAP_MB).`)

/**
 * The limit behind an error that a script threw. Buffers count towards the heap limit, and V8 reports a failed allocation as an
 * error that the script can catch.
 */
export function limitOf(
  { name, message }: PlainError,
  limits: Pick<Limits, 'heapMb'>,
): AnnexError | undefined {
  if (name !== 'RangeError' || message !== 'Array buffer allocation failed') return undefined
  return heapLimitError(limits)
}

/** For a dispatch in an isolate that was ended because of one of its dispatches. */
export function errorOfBroken(
  broken: { reason: BrokenReason; dispatch: number },
  id: number,
  limits: Limits,
): AnnexError {
  if (broken.dispatch !== id && broken.dispatch !== 0) return new CutOffError()
  switch (broken.reason) {
    case 'cpu_limit':
      return cpuLimitError(limits)
    case 'starved':
      return starvedError()
    case 'memory_limit':
      return heapLimitError(limits)
    case 'crashed':
      return diedError()
  }
}

/** For a dispatch that had begun in a process that ended: by its own code, or by a neighbour's? */
export function errorOfEnd(
  cause: EndCause,
  signal: NodeJS.Signals | undefined,
  box: BlackBoxRecord,
  live: { id: number; sandbox: number },
  limits: Limits,
): AnnexError {
  const isCulprit = box.sandbox === live.sandbox && (live.id >= box.dispatch || box.dispatch === 0)
  if (!isCulprit) return new CutOffError()
  if (cause.kind === 'cpu_limit') return cpuLimitError(limits)
  // SIGKILL without the host comes from the process itself or from the kernel: both mean memory.
  if (cause.kind === 'memory_limit' || (cause.kind === 'died' && signal === 'SIGKILL')) {
    return new AnnexError(
      'memory_limit',
      `The script used more memory than there is for its sandbox process (SANDBOX_HEAP_MB ${limits.heapMb}, SANDBOX_RESIDENT_MB ${limits.residentMb}).`,
    )
  }
  return diedError()
}
