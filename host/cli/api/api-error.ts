import type { ErrorDetail } from '../../errors/annex-error.ts'

/** What the API answered instead of what was asked for. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly details: ErrorDetail[]

  constructor(status: number, body: unknown) {
    const { code, message, requestId, details } = readError(body)
    super(message ?? `The server answered ${status} without saying why. Is it an Annex?`)
    this.status = status
    this.code = code ?? 'unknown'
    this.requestId = requestId
    this.details = details
  }
}

export const isApiError = (error: unknown, code?: string): error is ApiError =>
  error instanceof ApiError && (code === undefined || error.code === code)

type ReadError = { code?: string; message?: string; requestId?: string; details: ErrorDetail[] }

/** Another server may answer at that address: nothing about its body is sure. */
function readError(body: unknown): ReadError {
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const { code, message, requestId, details } = error
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
    ...(typeof requestId === 'string' && { requestId }),
    details: Array.isArray(details) ? details.filter(isDetail) : [],
  }
}

const isDetail = (value: unknown): value is ErrorDetail =>
  isObject(value) && typeof value.path === 'string' && typeof value.message === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
