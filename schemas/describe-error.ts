import type { ErrorObject } from 'ajv/dist/2020.js'

/** A JSON Pointer (RFC 6901): `/visitor/cookies`, and an empty text for the whole value. */
export const toPointer = (...keys: string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Where a mistake is, as a JSON Pointer: the wrong value, or the field that is missing or unknown. */
export function pointerOf({ instancePath, params }: ErrorObject): string {
  const field: unknown = params.missingProperty ?? params.additionalProperty
  return typeof field === 'string' ? instancePath + toPointer(field) : instancePath
}

/** What a schema asks for where a value does not match it; of a choice, what there is to choose from. */
export function describeError({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  if (keyword !== 'enum') return message
  const allowed: readonly unknown[] = params.allowedValues
  return `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`
}

/** Where the mistake is, and what is wrong there. */
export function toDetail(error: ErrorObject): { path: string; message: string } {
  const path = pointerOf(error)
  if (error.keyword === 'required') return { path, message: 'is missing' }
  if (error.keyword === 'additionalProperties') return { path, message: 'is not a known field' }
  return { path, message: describeError(error) }
}
