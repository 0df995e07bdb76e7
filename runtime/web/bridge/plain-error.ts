import type { PlainError } from '../../bridge.ts'
import { createObject, cut, isInteger, numberText, quote, toText } from '../primordials.ts'

const nameLimit = 200
const messageLimit = 8192
const stackLimit = 8192
const causesShown = 3

/** Set by the SDK's ExposableError. A symbol of the registry, as the script has bundled its own SDK. */
const exposeCodeKey = Symbol.for('annex.exposeCode')

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
  if (typeof thrown !== 'object' || thrown === null) {
    plain.name = 'Error'
    plain.message = cut(`The script threw ${describeThrown(thrown)}`, messageLimit)
    return plain
  }
  const name = read(thrown, 'name')
  const message = read(thrown, 'message')
  plain.name = typeof name === 'string' && name !== '' ? cut(name, nameLimit) : 'Error'
  plain.message =
    typeof message === 'string' ? cut(message, messageLimit) : 'The script threw an object that is no Error'
  const stack = stackOf(thrown)
  if (stack !== undefined) plain.stack = cut(stack, stackLimit)
  const code = read(thrown, exposeCodeKey)
  if (typeof code === 'number' && isInteger(code) && code >= 400 && code <= 599) plain.exposeCode = code
  return plain
}

/** The same as JSON text, with only the fields of PlainError. */
export const plainErrorText = (error: PlainError): string =>
  `{"name":${quote(error.name)},"message":${quote(error.message)}` +
  (error.stack === undefined ? '' : `,"stack":${quote(error.stack)}`) +
  (error.exposeCode === undefined ? '}' : `,"exposeCode":${numberText(error.exposeCode)}}`)

/** The stack as the log shows it: name and message are in its first line, its causes below. */
export const errorText = (thrown: unknown): string => {
  const { name, message, stack } = toPlainError(thrown)
  return stack ?? `${name}: ${message}`
}

const describeThrown = (thrown: unknown): string => {
  if (typeof thrown === 'string') return quote(cut(thrown, messageLimit))
  if (typeof thrown === 'function') return 'a function'
  return toText(thrown)
}

const stackOf = (thrown: object): string | undefined => {
  let text: string | undefined
  let error: unknown = thrown
  for (let depth = 0; depth <= causesShown; depth++) {
    if (typeof error !== 'object' || error === null) break
    const stack = read(error, 'stack')
    if (typeof stack !== 'string') break
    text = text === undefined ? cut(stack, stackLimit) : `${text}\n  caused by: ${cut(stack, stackLimit)}`
    error = read(error, 'cause')
  }
  return text
}
