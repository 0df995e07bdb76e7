import { withoutPlatformFrames } from '../../platform-frames.ts'
import { logTextLimit } from '../bridge/wire.ts'
import { getOwnPropertyDescriptor, isArray, reflectApply } from '../primordials.ts'
import { formatError, isError, type ShowCarried, titleOf } from './format-error.ts'
import { platformContent } from './platform-fields.ts'

const depthLimit = 4
const entryLimit = 100

/** The characters left for one line, shared by all of its values. */
export type Room = { left: number; seen: object[] }

export const createRoom = (): Room => ({ left: logTextLimit, seen: [] })

const getterOf = (prototype: object, name: string) =>
  getOwnPropertyDescriptor(prototype, name)?.get as (this: object) => unknown
/** Methods of the built-ins: a script's class may have others under the same names. */
const dateToIso = Date.prototype.toISOString
const dateTime = Date.prototype.getTime
const regexpText = RegExp.prototype.toString
const mapSize = getterOf(Map.prototype, 'size')
const mapEntries = Map.prototype.entries
const setSize = getterOf(Set.prototype, 'size')
const setValues = Set.prototype.values
const bufferBytes = getterOf(ArrayBuffer.prototype, 'byteLength')
const viewLength = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, 'length')
const { isView } = ArrayBuffer

/** One value as a person reads it. Calls no getter and no method of a value, but for name and message of an error. */
export const formatValue = (value: unknown, depth: number, room: Room): string => {
  if (typeof value === 'string')
    return JSON.stringify(withoutPlatformFrames(value.slice(0, Math.max(room.left, 0))))
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return `[Function${spaced(ownText(value, 'name'))}]`
  if (typeof value !== 'object' || value === null) return String(value)
  if (room.seen.includes(value)) return '[Circular]'
  const isAnError = isError(value)
  if (depth >= depthLimit) return isAnError ? titleOf(value) : isArray(value) ? '[Array]' : '[Object]'
  room.seen.push(value)
  const text = isAnError ? formatError(value, showCarried(depth, room)) : formatObject(value, depth, room)
  room.seen.pop()
  return text
}

const showCarried = (depth: number, room: Room): ShowCarried => {
  const value = (item: unknown): string => safely(() => formatValue(item, depth + 1, room))
  return {
    value,
    properties: (error, without) => wrap('', '{', properties(error, value, room, without), '}'),
    list: (items, show) => listed(itemsOf(items, items.length), items.length, show, room),
  }
}

const formatObject = (value: object, depth: number, room: Room): string => {
  const inner = (item: unknown): string => safely(() => formatValue(item, depth + 1, room))
  const pair = ([key, item]: [unknown, unknown]): string => `${inner(key)} => ${inner(item)}`
  if (isArray(value))
    return wrap('', '[', listed(itemsOf(value, value.length), value.length, inner, room), ']')
  const builtIn = formatBuiltIn(value, pair, inner, room)
  if (builtIn !== undefined) return builtIn
  const name = nameOf(value)
  const content = platformContent(value)
  if (content !== undefined && 'entries' in content)
    return wrap(`${name} `, '{', listed(content.entries, 0, pair, room), '}')
  const fields = content?.fields.map(([field, item]) => `${field}: ${inner(item)}`) ?? []
  return wrap(name === 'Object' ? '' : `${name} `, '{', [...fields, ...properties(value, inner, room)], '}')
}

/** Each getter throws for what is not of its kind, whatever its prototype says. */
const formatBuiltIn = (
  value: object,
  pair: (entry: [unknown, unknown]) => string,
  inner: (item: unknown) => string,
  room: Room,
): string | undefined => {
  const sizeOf = (get: (this: object) => unknown): number | undefined => {
    try {
      return reflectApply(get, value, []) as number
    } catch {
      return undefined
    }
  }
  const name = nameOf(value)
  const time = sizeOf(dateTime)
  if (time !== undefined) return Number.isNaN(time) ? 'Invalid Date' : reflectApply(dateToIso, value, [])
  const entries = sizeOf(mapSize)
  if (entries !== undefined)
    return wrap(
      `${name}(${entries}) `,
      '{',
      listed(reflectApply(mapEntries, value, []), entries, pair, room),
      '}',
    )
  const values = sizeOf(setSize)
  if (values !== undefined)
    return wrap(
      `${name}(${values}) `,
      '{',
      listed(reflectApply(setValues, value, []), values, inner, room),
      '}',
    )
  const bytes = sizeOf(bufferBytes)
  if (bytes !== undefined) return `ArrayBuffer { byteLength: ${bytes} }`
  if (value instanceof RegExp) return reflectApply(regexpText, value, [])
  const length = isView(value) ? sizeOf(viewLength) : undefined
  if (length === undefined) return undefined
  return wrap(`${name}(${length}) `, '[', listed(itemsOf(value as never, length), length, String, room), ']')
}

/** Own properties; those with getters are named and not called. */
const properties = (
  value: object,
  inner: (item: unknown) => string,
  room: Room,
  without: readonly PropertyKey[] = [],
): string[] => {
  const keys = Reflect.ownKeys(value)
  return listed(
    keys,
    keys.length,
    (key) => {
      const property = getOwnPropertyDescriptor(value, key)
      if (property?.enumerable !== true || without.includes(key)) return ''
      const name = typeof key === 'string' && /^[\w$]+$/.test(key) ? key : inner(key)
      return `${name}: ${'value' in property ? inner(property.value) : '[Getter]'}`
    },
    room,
  ).filter((text) => text !== '')
}

/** By index: the iterator may be the script's. */
function* itemsOf(items: readonly unknown[], length: number): Generator<unknown> {
  for (let i = 0; i < length; i++) {
    const property = getOwnPropertyDescriptor(items, i)
    yield property === undefined || 'value' in property ? property?.value : getterMark
  }
}

const listed = <T>(
  items: Iterable<T>,
  size: number,
  show: (item: T, index: number) => string,
  room: Room,
): string[] => {
  const shown: string[] = []
  for (const item of items) {
    if (shown.length >= entryLimit || room.left <= 0) {
      shown.push(size > shown.length ? `… ${size - shown.length} more` : '…')
      break
    }
    const text = (item as unknown) === getterMark ? '[Getter]' : show(item, shown.length)
    room.left -= text.length + 2
    shown.push(text)
  }
  return shown
}

const getterMark = Symbol('an item that has a getter')

const wrap = (name: string, open: string, items: string[], close: string): string => {
  if (items.length === 0) return `${name}${open}${close}`
  const space = open === '{' ? ' ' : ''
  return `${name}${open}${space}${items.join(', ')}${space}${close}`
}

const nameOf = (value: object): string => {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === null) return '[Object: null prototype]'
  const maker: unknown = getOwnPropertyDescriptor(prototype, 'constructor')?.value
  return (typeof maker === 'function' && ownText(maker, 'name').slice(0, 100)) || 'Object'
}

const ownText = (from: object, key: string): string => {
  const text: unknown = getOwnPropertyDescriptor(from, key)?.value
  return typeof text === 'string' ? text : ''
}

const spaced = (text: string): string => (text === '' ? '' : ` ${text}`)

export const safely = (show: () => string): string => {
  try {
    return show()
  } catch {
    return '[cannot be shown]'
  }
}
