import type { PlainError } from '../../bridge.ts'
import { createRoom, formatValue } from '../console/format-value.ts'
import { createObject, cut, isInteger, numberText, quote } from '../primordials.ts'

const nameLimit = 200
const messageLimit = 8192
const stackLimit = 8192

/** Set by the SDK's ExposableError. A symbol of the registry, as the script has bundled its own SDK. */
export const exposeCodeKey = Symbol.for('annex.exposeCode')

/** Reads a property of a hostile object: a getter or a proxy may throw. */
const read = (from: unknown, key: string | symbol): unknown => {
  try {
    return (from as Record<string | symbol, unknown>)[key]
  } catch {
    return undefined
  }
}

/** Whatever was thrown, as bounded text. Never throws. */
export const toPlainError = (thrown: unknown): PlainError => {
  // No prototype: a setter that the script put on Object.prototype is not called.
  const plain = createObject(null) as PlainError
  const isObject = typeof thrown === 'object' && thrown !== null
  const name = isObject ? read(thrown, 'name') : undefined
  const message = isObject ? read(thrown, 'message') : undefined
  plain.name = typeof name === 'string' && name !== '' ? cut(name, nameLimit) : 'Error'
  if (typeof message !== 'string') {
    plain.message = cut(`The script threw ${shown(thrown) ?? 'an object that cannot be shown'}`, messageLimit)
    return plain
  }
  plain.message = cut(message, messageLimit)
  const stack = shown(thrown) ?? read(thrown, 'stack')
  if (typeof stack === 'string') plain.stack = cut(stack, stackLimit)
  const code = read(thrown, exposeCodeKey)
  if (typeof code === 'number' && isInteger(code) && code >= 400 && code <= 599) plain.exposeCode = code
  return plain
}

/** As the log shows it. The formatter leans on built-ins that a script may have replaced: none of its doing is passed on. */
const shown = (value: unknown): string | undefined => {
  try {
    const text: unknown = formatValue(value, 0, createRoom())
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/** The same as JSON text, with only the fields of PlainError. */
export const plainErrorText = (error: PlainError): string =>
  `{"name":${quote(error.name)},"message":${quote(error.message)}` +
  (error.stack === undefined ? '' : `,"stack":${quote(error.stack)}`) +
  (error.exposeCode === undefined ? '}' : `,"exposeCode":${numberText(error.exposeCode)}}`)

/** The text of a thrown value for the log: an error's stack with its own properties. */
export const thrownText = (thrown: unknown): string => {
  const { name, message, stack } = toPlainError(thrown)
  return stack ?? `${name}: ${message}`
}
