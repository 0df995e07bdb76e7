/** An answer of the platform API with another status than 2xx. `code` and `status` are both its HTTP status. */
export class ApiError extends Error {
  readonly status: number
  readonly code: number
  /** The stable code of the error, such as `missing_scope`. */
  readonly errorCode: string | undefined

  constructor(message: string, status: number, errorCode?: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = status
    this.errorCode = errorCode
  }
}
