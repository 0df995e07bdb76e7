import { CommanderError } from 'commander'
import { AnnexError, messageOf } from '../errors/annex-error.ts'
import { ApiError } from './api/api-error.ts'
import { paint, type Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** 130 and 143 stand beside these: ended by SIGINT, by SIGTERM. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, invalid: 3, machine: 4, schema: 5 } as const

/** Codes of what somebody wrote wrongly in a manifest or in settings. */
const invalid: ReadonlySet<string> = new Set([
  'settings_invalid',
  'manifest_invalid',
  'bundle_failed',
  'configuration_invalid',
  'export_invalid',
])

/** Of files, and of SQLite once it is open. */
const noRoom: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL', 'SQLITE_IOERR'])
/** Of files whose owner or mode forbids it, or whose file system is read-only. */
const forbidden: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Says on stderr what went wrong, never with a stack. @returns the exit code */
export function reportError(terminal: Terminal, error: unknown): number {
  // Commander has printed its own message, and help is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const prefix = paint('red', 'annex: ')
  if (error instanceof UsageError) {
    terminal.say(prefix, error.message)
    return exitCodes.usage
  }
  if (error instanceof ApiError) {
    terminal.say(prefix, error.message)
    for (const { path, message } of error.details) {
      if (!error.message.includes(`${path}: ${message}`)) terminal.say(`  ${path}: ${message}`)
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
  if (noRoom.has(code)) {
    terminal.say(prefix, `The disk takes no more (${message}). Make room, and try it again.`)
    return exitCodes.failed
  }
  if (forbidden.has(code)) {
    const hint = 'Change the owner or the mode of the folder, or run it as a user that may.'
    terminal.say(prefix, `The user of this command may not do that (${message}). ${hint}`)
    return exitCodes.failed
  }
  terminal.say(prefix, message)
  if (error instanceof Error && error.stack !== undefined && process.env.LOG_LEVEL === 'debug') {
    terminal.say(error.stack)
  } else terminal.say('This is a defect of Annex. The same command with LOG_LEVEL=debug shows where it is.')
  return exitCodes.failed
}

function codeFor(code: string): number {
  // Neither the settings nor the command are at fault, and to start again would change nothing.
  if (code === 'sandbox_unavailable') return exitCodes.machine
  // Whatever starts programs again and again should not do it with this one.
  if (code === 'schema_newer') return exitCodes.schema
  return invalid.has(code) ? exitCodes.invalid : exitCodes.failed
}
