import type { ValidateFunction } from 'ajv'

/**
 * Compiles a schema when it is first needed, and once. To compile them all took a third of the time in which Annex
 * starts, and a command that checks no manifest paid for it too.
 */
export function compileLate<T>(compile: () => ValidateFunction<T>): () => ValidateFunction<T> {
  let compiled: ValidateFunction<T> | undefined
  return () => {
    compiled ??= compile()
    return compiled
  }
}
