/** An answer of the platform API that is no success. `code` is its HTTP status, as is `status`. */
export class ApiError extends Error {
  readonly status: number
  readonly code: number
  /** The stable code of the error, `scope_missing` and the like. */
  readonly errorCode: string | undefined

  constructor(message: string, status: number, errorCode?: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = status
    this.errorCode = errorCode
  }
}
