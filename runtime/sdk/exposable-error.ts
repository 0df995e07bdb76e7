/** The prelude looks for this, as an `instanceof` does not hold between two copies of the SDK. */
const exposeCodeKey = Symbol.for('annex.exposeCode')

/**
 * An error whose message and HTTP status reach the caller. Any other error is a 500 without detail. `code` is
 * a status from 400 to 599.
 */
export class ExposableError extends Error {
  readonly code: number

  constructor(message: string, code = 400) {
    super(message)
    this.name = 'ExposableError'
    this.code = code
  }

  get [exposeCodeKey](): number {
    return this.code
  }
}
