import type { ErrorObject } from 'ajv/dist/2020.js'

/** What a schema asks for where a value does not match it; of a choice, what there is to choose from. */
export function describeError({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  if (keyword !== 'enum') return message
  const allowed: readonly unknown[] = params.allowedValues
  return `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`
}
