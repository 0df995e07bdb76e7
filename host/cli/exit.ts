import { CommanderError } from 'commander'
import { ApiError } from '../../schemas/client.ts'
import { AnnexError, messageOf } from '../errors.ts'
import { toCommandError } from './client.ts'
import { UsageError } from './options.ts'
import { paint, type Terminal } from './terminal.ts'

export const exitCodes = { ok: 0, failed: 1, usage: 2, invalid: 3, machine: 4, schema: 5 } as const

/** Exit codes of a program that a signal ended, as shells have them. */
export const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export type StopSignal = keyof typeof signalExitCodes

const exitDelayMs = 1_000

/** Ends the process with this code. Handles that are still open a second later do not keep it alive. */
export function exitSoon(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(), exitDelayMs).unref()
}

/**
 * Ctrl+C reaches every process of the terminal, and npm and `make` pass their signal on. A second signal within this
 * time is the same key press.
 */
const samePressMs = 500

/**
 * Listens for SIGINT, SIGTERM, and SIGHUP of a terminal that is closed. The first one asks for an orderly stop; a second one stops at once.
 *
 * @param exit ends the process at once
 * @returns the first signal, and `close`, which removes the listeners
 */
export function listenForStop(exit: (code: number) => void): {
  first: Promise<StopSignal>
  close: () => void
} {
  const { promise: first, resolve } = Promise.withResolvers<StopSignal>()
  let firstAt: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== undefined && now - firstAt > samePressMs) exit(signalExitCodes[signal as StopSignal])
    firstAt ??= now
    resolve(signal as StopSignal)
  }
  const signals = Object.keys(signalExitCodes) as StopSignal[]
  for (const signal of signals) process.on(signal, onSignal)
  const close = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  return { first, close }
}

/** Errors in a manifest or in settings. */
const invalid: ReadonlySet<string> = new Set([
  'settings_invalid',
  'manifest_invalid',
  'bundle_failed',
  'configuration_invalid',
])

/** Codes of a full disk: of the file system and of SQLite. */
const diskFull: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL', 'SQLITE_IOERR'])
/** Codes of a file whose owner, mode or read-only file system forbids the access. */
const forbidden: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Prints an error on stderr; a stack only with LOG_LEVEL=debug. @returns the exit code */
export function reportError(terminal: Terminal, thrown: unknown, env: NodeJS.ProcessEnv): number {
  const error = toCommandError(thrown)
  // Commander has printed its own message. Help is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const prefix = paint('red', 'annex: ')
  if (error instanceof UsageError) {
    terminal.say(prefix, error.message)
    return exitCodes.usage
  }
  if (error instanceof ApiError) {
    terminal.say(prefix, error.message)
    for (const { path, message } of error.details) {
      if (!error.message.includes(message)) terminal.say(`  ${path}: ${message}`)
    }
    const request = error.requestId === undefined ? '' : ` · request ${error.requestId}`
    terminal.say(paint('dim', `${error.status} ${error.code}${request}`))
    return codeFor(error.code)
  }
  if (error instanceof AnnexError) {
    terminal.say(prefix, error.message)
    return codeFor(error.code)
  }
  const message = messageOf(error)
  const { code = '' } = Object(error) as { code?: string }
  if (diskFull.has(code)) {
    terminal.say(prefix, `The disk takes no more (${message}). Make room, and try again.`)
    return exitCodes.failed
  }
  if (forbidden.has(code)) {
    const hint = 'Change the owner or the mode of the folder, or run it as a user that may.'
    terminal.say(prefix, `The user of this command may not do that (${message}). ${hint}`)
    return exitCodes.failed
  }
  terminal.say(prefix, message)
  if (error instanceof Error && error.stack !== undefined && env.LOG_LEVEL === 'debug') {
    terminal.say(error.stack)
  } else terminal.say('This is a defect of Annex. The same command with LOG_LEVEL=debug shows where it is.')
  return exitCodes.failed
}

function codeFor(code: string): number {
  // The machine is at fault: starting again changes nothing.
  if (code === 'sandbox_unavailable') return exitCodes.machine
  // A supervisor must not start this program again: the schema is newer than the program.
  if (code === 'schema_newer' || code === 'schema_older') return exitCodes.schema
  return invalid.has(code) ? exitCodes.invalid : exitCodes.failed
}

/** Ends the process when stdout cannot be written. A command with its own error listener is left to decide. */
export function watchOutput(terminal: Terminal): void {
  // There is no other place to report this error.
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (process.stdout.listenerCount('error') > 1) return
    // `annex logs | head`: the reader has ended, which is no failure.
    if (error.code === 'EPIPE') process.exit()
    const text = `The output cannot be written (${error.message}).`
    process.exit(reportError(terminal, new AnnexError('unavailable', text), process.env))
  })
}
