// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * An error. docs/errors.md lists the codes.
 */
export interface ErrorAnswer {
  error: {
    /**
     * A stable code.
     */
    code: string
    /**
     * What failed, where, and what to do next.
     */
    message: string
    /**
     * The log has more under this id.
     */
    requestId: string
    /**
     * The entry of the code: a path in the repository.
     */
    docs: string
    details?: ErrorDetail[]
  }
}

/**
 * One thing that is wrong.
 */
export interface ErrorDetail {
  /**
   * Where it is wrong: a JSON Pointer (RFC 6901).
   */
  path: string
  message: string
  /**
   * What belongs there, where Annex knows it.
   */
  value?: number | string[]
}
