import { defineTransferable, uncloneable } from './platform-objects.ts'

const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object
const getterOf = (on: object, key: string | symbol): (() => unknown) =>
  Object.getOwnPropertyDescriptor(on, key)?.get ?? (() => undefined)
const typedArrayTag = getterOf(typedArrayPrototype, Symbol.toStringTag)
const bufferLength = getterOf(ArrayBuffer.prototype, 'byteLength')

/** By their real kind, not by a `constructor` that the script may have written. */
const arrays: Record<string, Uint8ArrayConstructor> = Object.fromEntries(
  [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    (globalThis as { Float16Array?: unknown }).Float16Array as Uint8ArrayConstructor | undefined,
  ].flatMap((made) => (made === undefined ? [] : [[made.name, made as unknown as Uint8ArrayConstructor]])),
)

export const isBuffer = (value: object): value is ArrayBuffer => {
  if (!(value instanceof ArrayBuffer)) return false
  try {
    bufferLength.call(value)
    return true
  } catch {
    return false
  }
}

export const copyBuffer = (buffer: ArrayBuffer): ArrayBuffer => {
  if (buffer.detached) throw uncloneable('A detached ArrayBuffer cannot be cloned')
  if (!buffer.resizable) return buffer.slice(0)
  const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength })
  new Uint8Array(copy).set(new Uint8Array(buffer))
  return copy
}

/** A view like `view` over `buffer`, which is a copy of its own. */
export const viewLike = (view: ArrayBufferView, buffer: ArrayBuffer): ArrayBufferView => {
  const kind = typedArrayTag.call(view) as string | undefined
  const follows = followsLength(view)
  if (kind === undefined) {
    return follows
      ? new DataView(buffer, view.byteOffset)
      : new DataView(buffer, view.byteOffset, view.byteLength)
  }
  const made = arrays[kind] ?? Uint8Array
  return follows
    ? new made(buffer, view.byteOffset)
    : new made(buffer, view.byteOffset, (view as Uint8Array).length)
}

/** Throws a DataCloneError for a view whose buffer has shrunk away under it. */
export const assertInBounds = (view: ArrayBufferView): void => {
  try {
    // Of a DataView that is out of bounds the getter itself throws; a typed array answers 0 for everything.
    const isOut = view.byteLength === 0 && view.byteOffset === 0 && isOutOfBounds(view)
    if (!isOut) return
  } catch {
    // As below.
  }
  throw uncloneable('A view that is out of the bounds of its buffer cannot be cloned')
}

/** Only an array that is in bounds has a first element that can be looked at; an empty one may be in bounds. */
const isOutOfBounds = (view: ArrayBufferView): boolean => {
  if (view.buffer.byteLength === 0 && !(view.buffer as ArrayBuffer).resizable) return false
  try {
    Array.prototype.keys.call(view)
    typedArrayKeys.call(view)
    return false
  } catch {
    return true
  }
}
const typedArrayKeys = (typedArrayPrototype as Uint8Array).keys

/**
 * Whether a view grows with its buffer. The language does not tell; a view of a resizable buffer that reaches its end
 * is taken for one.
 */
const followsLength = (view: ArrayBufferView): boolean => {
  const buffer = view.buffer as ArrayBuffer
  return buffer.resizable && view.byteOffset + view.byteLength === buffer.byteLength
}

defineTransferable({
  owns: isBuffer,
  assertMovable(buffer) {
    if ((buffer as ArrayBuffer).detached) throw uncloneable('A detached ArrayBuffer cannot be transferred')
  },
  // A copy: what it is moved from is detached once nothing more can fail.
  move: (buffer) => copyBuffer(buffer as ArrayBuffer),
})
