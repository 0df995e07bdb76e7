/**
 * Built-ins as they were before any script ran. A script may replace `Array.prototype.push`,
 * `Promise.prototype.then` or `Object.prototype.toJSON`; code that speaks to the sandbox process uses only
 * what is here, string primitives and numbers, so that a patched built-in never sees or shapes a message.
 */
const { apply } = Reflect
const promiseThen = Promise.prototype.then

export const reflectApply = apply
export const NativePromise = Promise
export const NativeError = Error
export const NativeTypeError = TypeError
export const parseJson = JSON.parse
export const defineProperty = Object.defineProperty
export const getOwnPropertyDescriptor = Object.getOwnPropertyDescriptor
export const createObject = Object.create
export const ownKeys = Reflect.ownKeys
export const isArray = Array.isArray
export const isInteger = Number.isInteger
export const toText = String
export const mathMin = Math.min
export const mathFloor = Math.floor
export const Bytes = Uint8Array

const stringifyJson = JSON.stringify
const { call } = Function.prototype
const sliceBuffer = ArrayBuffer.prototype.slice
const bufferByteLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')?.get

/**
 * A text as a JSON text. Lone surrogates come out escaped, and a primitive has no `toJSON` that is called.
 * What a script has made something else of (by a setter on Array.prototype, say) becomes an empty text.
 */
export const quote = (text: string): string => (typeof text === 'string' ? stringifyJson(text) : '""')

/** A number as a JSON text; what is no finite number becomes 0. */
export const numberText = (value: number): string =>
  typeof value === 'number' && value - value === 0 ? `${value}` : '0'

/** Any value as JSON text, or `undefined` where JSON has none. Runs code of the script (`toJSON`, getters). */
export const toJsonText = (value: unknown): string | undefined => stringifyJson(value) as string | undefined

export const indexOfText: (text: string, searched: string, from: number) => number = call.bind(
  String.prototype.indexOf,
)

export const sliceText: (text: string, start: number, end: number) => string = call.bind(
  String.prototype.slice,
)

/** The first `length` characters of a text. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : sliceText(text, 0, length)

/** A copy of a part of an ArrayBuffer; throws a TypeError where `buffer` is something else. */
export const copyBuffer = (buffer: ArrayBuffer, start: number, end: number): ArrayBuffer =>
  apply(sliceBuffer, buffer, [start, end]) as ArrayBuffer

/** True for a real ArrayBuffer, whatever its prototype has become. */
export const isArrayBuffer = (value: unknown): value is ArrayBuffer => {
  if (bufferByteLength === undefined || typeof value !== 'object' || value === null) return false
  try {
    apply(bufferByteLength, value, [])
    return true
  } catch {
    return false
  }
}

/** `promise.then(…)` with the original `then`. Throws a TypeError where `promise` is no native promise. */
export const whenSettled = <T>(
  promise: Promise<T>,
  fulfilled: (value: T) => void,
  rejected: (reason: unknown) => void,
): void => {
  apply(promiseThen, promise, [fulfilled, rejected])
}

/** A dictionary keyed by id. It has no prototype, so no script can put a setter or an entry under it. */
export const createTable = <T>(): Record<number, T | undefined> =>
  createObject(null) as Record<number, T | undefined>
