import { DOMException, isDOMException } from '../events/dom-exception.ts'
import { Blob } from '../file/blob.ts'
import { File } from '../file/file.ts'
import { assertInBounds, copyBuffer, isBuffer, viewLike } from './array-buffers.ts'
import {
  copyPlatformObject,
  defineSerializable,
  isPlatformObject,
  transferableOf,
  uncloneable,
} from './platform-objects.ts'

/** Cloned values, with their clones. */
type Memory = Map<object, unknown>

const errorTypes: Record<string, ErrorConstructor> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

/** HTML standard, 2.7.9. */
export function structuredClone(
  value: unknown,
  options: { transfer?: Iterable<unknown> } | null = {},
): unknown {
  if (arguments.length === 0) throw new TypeError('structuredClone takes a value')
  return cloneWithTransfer(value, transferListOf(options)).value
}

/** The transfer list of options; throws a TypeError where they are no dictionary. */
export const transferListOf = (options: { transfer?: Iterable<unknown> } | null | undefined): object[] => {
  if (options === undefined || options === null) return []
  if (typeof options !== 'object' && typeof options !== 'function')
    throw new TypeError('The options are an object')
  const list = options.transfer === undefined ? [] : [...options.transfer]
  return list.map((item) => {
    if (typeof item === 'object' && item !== null) return item
    throw new TypeError('Only objects can be transferred')
  })
}

/** HTML standard, 2.7.7 and 2.7.8, in one: nothing is taken away from its owner where anything cannot be cloned. */
export const cloneWithTransfer = (
  value: unknown,
  transfer: object[],
): { value: unknown; moved: object[] } => {
  if (new Set(transfer).size !== transfer.length) throw uncloneable('An object is listed twice in "transfer"')
  const memory: Memory = new Map()
  const kinds = transfer.map(transferableOf)
  // A buffer is copied, so that views of it can be cloned; what is moved otherwise is named by what it will be.
  const later: (() => void)[] = []
  for (const [index, item] of transfer.entries()) {
    if (isBuffer(item)) {
      memory.set(item, copyBuffer(item))
      later.push(() => void item.transfer())
    } else {
      memory.set(item, kinds[index]?.move(item))
    }
  }
  const copy = clone(value, memory)
  for (const detach of later) detach()
  return { value: copy, moved: transfer.map((item) => memory.get(item) as object) }
}

const clone = (value: unknown, memory: Memory): unknown => {
  if (typeof value === 'symbol') throw uncloneable('A symbol cannot be cloned')
  if (typeof value === 'function') throw uncloneable('A function cannot be cloned')
  if (typeof value !== 'object' || value === null) return value
  if (memory.has(value)) return memory.get(value)
  if (Array.isArray(value)) return cloneProperties(value, new Array(value.length), memory)
  if (Object.getPrototypeOf(value) === Object.prototype && Object.hasOwn(value, 'constructor') === false) {
    return cloneOrdinary(value, memory)
  }
  const copy = cloneLeaf(value, memory)
  if (copy !== undefined) {
    memory.set(value, copy)
    return copy
  }
  if (value instanceof Map) return cloneMap(value, memory)
  if (value instanceof Set) return cloneSet(value, memory)
  if (value instanceof Error) return cloneError(value, memory)
  return cloneOrdinary(value, memory)
}

const cloneOrdinary = (value: object, memory: Memory): unknown => {
  if (value === globalThis) throw uncloneable('The global object cannot be cloned')
  for (const kind of [Promise, WeakMap, WeakSet, WeakRef]) {
    if (value instanceof kind) throw uncloneable(`A ${kind.name} cannot be cloned`)
  }
  return cloneProperties(value, {}, memory)
}

/** Values with nothing inside that has to be cloned. */
const cloneLeaf = (value: object, memory: Memory): object | undefined => {
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof RegExp) return new RegExp(value.source, value.flags)
  if (isBuffer(value)) return copyBuffer(value)
  if (ArrayBuffer.isView(value)) return cloneView(value, memory)
  if (isPlatformObject(value)) return copyPlatformObject(value)
  if (value instanceof Symbol) throw uncloneable('A symbol cannot be cloned')
  for (const kind of [Boolean, Number, String, BigInt])
    if (value instanceof kind) return Object(value.valueOf())
  return undefined
}

const cloneView = (view: ArrayBufferView, memory: Memory): ArrayBufferView => {
  assertInBounds(view)
  return viewLike(view, clone(view.buffer, memory) as ArrayBuffer)
}

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
  const name = `${error.name}`
  const copy = new ((Object.hasOwn(errorTypes, name) ? errorTypes[name] : undefined) ?? Error)()
  memory.set(error, copy)
  const message = Object.getOwnPropertyDescriptor(error, 'message')
  if (message !== undefined && 'value' in message) hide(copy, 'message', `${message.value}`)
  if (typeof error.stack === 'string') hide(copy, 'stack', error.stack)
  if (Object.hasOwn(error, 'cause')) hide(copy, 'cause', clone(error.cause, memory))
  return copy
}

const hide = (on: object, key: string, value: unknown): void => {
  Object.defineProperty(on, key, { value, configurable: true, writable: true, enumerable: false })
}

const cloneProperties = (from: object, to: object, memory: Memory): object => {
  memory.set(from, to)
  for (const key of Object.keys(from)) {
    // A getter before it may have taken it away.
    if (!Object.hasOwn(from, key)) continue
    const value = clone((from as Record<string, unknown>)[key], memory)
    // Defined, not assigned: an own "__proto__" stays a property.
    Object.defineProperty(to, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return to
}

defineSerializable({
  owns: (value) => value instanceof File,
  copy: (file) => {
    const { name, type, lastModified } = file as File
    return new File([file], name, { type, lastModified })
  },
})
defineSerializable({
  owns: (value) => value instanceof Blob,
  copy: (blob) => new Blob([blob], { type: (blob as Blob).type }),
})
defineSerializable({
  owns: isDOMException,
  copy: (exception) => {
    const { name, message, stack } = exception as DOMException
    const copy = new DOMException(message, name)
    if (stack !== undefined) hide(copy, 'stack', stack)
    return copy
  },
})
