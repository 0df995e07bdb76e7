import { DOMException } from '../events/dom-exception.ts'
import { Blob } from '../file/blob.ts'

type Memory = Map<object, unknown>
const errorTypes: Record<string, ErrorConstructor> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}
const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as object
const typedArrayTag = Object.getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag)?.get

/** HTML standard, 2.7. Transfers ArrayBuffers; streams and ports do not exist on two sides here. */
export function structuredClone(value: unknown, options: { transfer?: Iterable<unknown> } = {}): unknown {
  const transfer = [...(options?.transfer ?? [])]
  for (const item of transfer) {
    if (!(item instanceof ArrayBuffer)) throw uncloneable('Only an ArrayBuffer can be transferred here')
    if (item.detached) throw uncloneable('A detached ArrayBuffer cannot be transferred')
  }
  if (new Set(transfer).size !== transfer.length) throw uncloneable('A buffer is listed twice in "transfer"')
  const memory: Memory = new Map()
  const buffers = transfer as ArrayBuffer[]
  for (const buffer of buffers) memory.set(buffer, buffer.slice(0))
  const copy = clone(value, memory)
  // Taken away last, so that a value that cannot be cloned leaves its buffers where they were.
  for (const buffer of buffers) buffer.transfer()
  return copy
}

const clone = (value: unknown, memory: Memory): unknown => {
  if (typeof value === 'symbol') throw uncloneable('A symbol cannot be cloned')
  if (typeof value === 'function') throw uncloneable('A function cannot be cloned')
  if (typeof value !== 'object' || value === null) return value
  if (memory.has(value)) return memory.get(value)
  const copy = cloneLeaf(value, memory)
  if (copy !== undefined) {
    memory.set(value, copy)
    return copy
  }
  if (value instanceof Map) return cloneMap(value, memory)
  if (value instanceof Set) return cloneSet(value, memory)
  if (value instanceof Error) return cloneError(value, memory)
  if (Array.isArray(value)) return cloneProperties(value, new Array(value.length), memory)
  const tag = Object.prototype.toString.call(value)
  if (isPlatformObject(value, tag)) throw uncloneable(`${tag.slice(8, -1)} cannot be cloned`)
  return cloneProperties(value, {}, memory)
}

/** Values with nothing inside that has to be cloned. */
const cloneLeaf = (value: object, memory: Memory): object | undefined => {
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof RegExp) return new RegExp(value.source, value.flags)
  if (value instanceof ArrayBuffer) return cloneBuffer(value)
  if (ArrayBuffer.isView(value)) return cloneView(value, memory)
  if (value instanceof Blob) return value
  if (value instanceof DOMException) return new DOMException(value.message, value.name)
  if (
    value instanceof Boolean ||
    value instanceof Number ||
    value instanceof String ||
    value instanceof BigInt
  ) {
    return Object(value.valueOf())
  }
  return undefined
}

const cloneBuffer = (buffer: ArrayBuffer): ArrayBuffer => {
  if (buffer.detached) throw uncloneable('A detached ArrayBuffer cannot be cloned')
  if (!buffer.resizable) return buffer.slice(0)
  const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength })
  new Uint8Array(copy).set(new Uint8Array(buffer))
  return copy
}

const cloneView = (view: ArrayBufferView, memory: Memory): ArrayBufferView => {
  const buffer = clone(view.buffer, memory) as ArrayBuffer
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength)
  // By its real kind, not by a `constructor` that the script may have written.
  const kind = typedArrayTag?.call(view) as 'Uint8Array'
  return new intrinsicArrays[kind](buffer, view.byteOffset, (view as Uint8Array).length)
}

const intrinsicArrays = {
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
  ...('Float16Array' in globalThis
    ? { Float16Array: (globalThis as Record<string, unknown>).Float16Array }
    : {}),
} as unknown as { Uint8Array: Uint8ArrayConstructor }

const cloneMap = (map: Map<unknown, unknown>, memory: Memory): Map<unknown, unknown> => {
  const copy = new Map<unknown, unknown>()
  memory.set(map, copy)
  for (const [key, value] of [...map]) copy.set(clone(key, memory), clone(value, memory))
  return copy
}

const cloneSet = (set: Set<unknown>, memory: Memory): Set<unknown> => {
  const copy = new Set<unknown>()
  memory.set(set, copy)
  for (const value of [...set]) copy.add(clone(value, memory))
  return copy
}

const cloneError = (error: Error, memory: Memory): Error => {
  const make = (Object.hasOwn(errorTypes, error.name) ? errorTypes[error.name] : undefined) ?? Error
  const copy = new make(error.message)
  memory.set(error, copy)
  const hidden = { configurable: true, writable: true }
  Object.defineProperty(copy, 'stack', { value: `${error.stack}`, ...hidden })
  if (Object.hasOwn(error, 'cause')) {
    Object.defineProperty(copy, 'cause', { value: clone(error.cause, memory), ...hidden })
  }
  return copy
}

const cloneProperties = (from: object, to: object, memory: Memory): object => {
  memory.set(from, to)
  for (const key of Object.keys(from)) {
    const value = clone((from as Record<string, unknown>)[key], memory)
    // Defined, not assigned: an own "__proto__" stays a property.
    Object.defineProperty(to, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return to
}

const isPlatformObject = (value: object, tag: string): boolean => {
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return true
  if (value instanceof WeakRef) return true
  const maker = (globalThis as Record<string, unknown>)[tag.slice(8, -1)]
  return tag !== '[object Object]' && typeof maker === 'function' && value instanceof maker
}

const uncloneable = (why: string) => new DOMException(why, 'DataCloneError')
