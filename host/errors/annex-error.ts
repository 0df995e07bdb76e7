import { type ErrorCode, errorCodes } from './codes.ts'

/** One thing that is wrong, and where: a settings property, a body field, a place in a file. */
export type ErrorDetail = { path: string; message: string }

/**
 * The one error that may be shown to its caller. Its message says what failed, where, and what to do
 * next. Anything else that is thrown is a defect, and goes to the log alone.
 */
export class AnnexError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetail[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AnnexError'
    this.code = code
    this.details = options.details
  }

  get status(): number {
    return errorCodes[this.code].status
  }

  /** In seconds, where it is worth trying again. */
  get retryAfter(): number | undefined {
    const entry: { status: number; retryAfter?: number } = errorCodes[this.code]
    return entry.retryAfter
  }
}

export const isAnnexError = (error: unknown): error is AnnexError => error instanceof AnnexError

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
