import { Bytes, isArrayBuffer, mathFloor, NativeTypeError } from '../primordials.ts'

const { isView } = ArrayBuffer
const { trunc } = Math
const typedArrayTag = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get

/** The name of a typed array's class, whatever it says of itself; nothing for any other value. */
export const typedArrayName = (value: unknown): unknown =>
  typedArrayTag && Reflect.apply(typedArrayTag, value, [])

/** A BufferSource of Web IDL as bytes, not copied. `undefined` for anything else. */
export const asBytes = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (isArrayBuffer(value)) return value.detached ? new Bytes(0) : new Bytes(value)
  if (!isView(value)) return undefined
  const buffer = value.buffer as ArrayBuffer
  return buffer.detached ? new Bytes(0) : new Bytes(buffer, value.byteOffset, value.byteLength)
}

export const toBytes = (value: unknown, what: string): Uint8Array<ArrayBuffer> => {
  const bytes = asBytes(value)
  if (bytes === undefined) throw new NativeTypeError(`${what} must be an ArrayBuffer or a view of one`)
  return bytes
}

/** Web IDL, 3.2.4: an integer with `[EnforceRange]`. */
export const toInteger = (value: unknown, max: number, what: string): number => {
  // Of a BigInt or a symbol, `+` makes a TypeError, where Number() would convert the one.
  const number = trunc(+(value as number))
  if (!(number >= 0 && number <= max)) {
    throw new NativeTypeError(`${what} must be a whole number from 0 to ${max}`)
  }
  return number
}

/** Web IDL, 3.2.4: an unsigned long without `[EnforceRange]`. */
export const toUnsignedLong = (value: unknown): number => mathFloor(+(value as number)) >>> 0

/** Web IDL, 3.2.21: a sequence. Runs the iterator of the script. */
export const toTexts = (value: unknown, what: string): string[] => {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  const iterate = isObject ? (value as { [Symbol.iterator]?: unknown })[Symbol.iterator] : undefined
  if (typeof iterate !== 'function') throw new NativeTypeError(`${what} must be a list`)
  const texts: string[] = []
  for (const item of value as Iterable<unknown>) texts[texts.length] = `${item as string}`
  return texts
}
