/** The prelude reads this property, as an `instanceof` does not hold between two copies of the SDK. @internal */
const exposeCodeKey = Symbol.for('annex.exposeCode')

/**
 * An error whose message and HTTP status the visitor gets. Every other error is a 500 without detail.
 *
 * @param message text for the visitor
 * @param code HTTP status, 400 by default
 * @limit `code` is a whole number from 400 to 599; another one makes the answer a 500 without detail
 */
export class ExposableError extends Error {
  readonly code: number

  constructor(message: string, code = 400) {
    super(message)
    this.name = 'ExposableError'
    this.code = code
  }

  /** @internal */
  get [exposeCodeKey](): number {
    return this.code
  }
}
