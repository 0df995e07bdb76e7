import { errorText } from '../bridge/plain-error.ts'
import { logTextLimit } from '../bridge/wire.ts'

const depthLimit = 4
const entryLimit = 100

/** What is left of the room for one line, shared by all of its values. */
type Room = { left: number; seen: unknown[] }

/**
 * The values of one console call as one line of at most about 8192 characters, with `%s` and the like of the
 * first. Never throws: getters are not called, and a proxy that throws is shown as such.
 */
export const formatLine = (values: unknown[]): string => {
  const room: Room = { left: logTextLimit, seen: [] }
  const parts: string[] = []
  let rest = values
  if (typeof values[0] === 'string' && values.length > 1 && values[0].includes('%')) {
    const taken = substitute(values[0], values.slice(1), room)
    parts.push(taken.text)
    rest = values.slice(1 + taken.used)
  }
  for (const value of rest) {
    if (room.left <= 0) break
    const text = typeof value === 'string' ? value : safely(() => formatValue(value, 0, room))
    room.left -= text.length
    parts.push(text)
  }
  return parts.join(' ')
}

/** Console standard, 2.2, "Formatter". */
const substitute = (template: string, values: unknown[], room: Room): { text: string; used: number } => {
  let used = 0
  const text = template.replace(/%([sdifjoOc%])/g, (whole, letter: string) => {
    if (letter === '%') return '%'
    if (used >= values.length) return whole
    const value = values[used++]
    return safely(() => substituted(letter, value, room))
  })
  return { text, used }
}

const substituted = (letter: string, value: unknown, room: Room): string => {
  if (letter === 's') return typeof value === 'object' ? formatValue(value, 2, room) : String(value)
  if (letter === 'd' || letter === 'f') return String(typeof value === 'symbol' ? Number.NaN : Number(value))
  if (letter === 'i')
    return String(typeof value === 'symbol' ? Number.NaN : Number.parseInt(String(value), 10))
  if (letter === 'j') return JSON.stringify(value) ?? 'undefined'
  return letter === 'c' ? '' : formatValue(value, 0, room)
}

/** One value as a person reads it. */
const formatValue = (value: unknown, depth: number, room: Room): string => {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, Math.max(room.left, 0)))
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return `[Function${value.name === '' ? '' : ` ${String(value.name)}`}]`
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof Error) return errorText(value)
  if (room.seen.includes(value)) return '[Circular]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof RegExp) return String(value)
  if (depth >= depthLimit) return Array.isArray(value) ? '[Array]' : '[Object]'
  room.seen.push(value)
  const text = formatObject(value, depth, room)
  room.seen.pop()
  return text
}

const formatObject = (value: object, depth: number, room: Room): string => {
  const inner = (item: unknown): string => safely(() => formatValue(item, depth + 1, room))
  if (Array.isArray(value)) return wrap('', '[', listed(value, value.length, inner, room), ']')
  if (value instanceof Map) {
    const entries = listed(value, value.size, ([key, item]) => `${inner(key)} => ${inner(item)}`, room)
    return wrap(`Map(${value.size}) `, '{', entries, '}')
  }
  if (value instanceof Set)
    return wrap(`Set(${value.size}) `, '{', listed(value, value.size, inner, room), '}')
  if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const numbers = value as Uint8Array
    return wrap(
      `${nameOf(value)}(${numbers.length}) `,
      '[',
      listed(numbers, numbers.length, String, room),
      ']',
    )
  }
  if (typeof (value as { entries?: unknown }).entries === 'function' && Symbol.iterator in value) {
    const entries = listed(
      value as Iterable<[unknown, unknown]>,
      0,
      ([key, item]) => `${inner(key)} => ${inner(item)}`,
      room,
    )
    return wrap(`${nameOf(value)} `, '{', entries, '}')
  }
  const name = nameOf(value)
  return wrap(name === 'Object' ? '' : `${name} `, '{', properties(value, inner, room), '}')
}

/** Own properties; those with getters are named and not called. */
const properties = (value: object, inner: (item: unknown) => string, room: Room): string[] => {
  const keys = Reflect.ownKeys(value)
  return listed(
    keys,
    keys.length,
    (key) => {
      const property = Object.getOwnPropertyDescriptor(value, key)
      if (property?.enumerable !== true) return ''
      const name = typeof key === 'string' && /^[\w$]+$/.test(key) ? key : formatValue(key, depthLimit, room)
      return `${name}: ${'value' in property ? inner(property.value) : '[Getter]'}`
    },
    room,
  ).filter((text) => text !== '')
}

const listed = <T>(items: Iterable<T>, size: number, show: (item: T) => string, room: Room): string[] => {
  const shown: string[] = []
  for (const item of items) {
    if (shown.length >= entryLimit || room.left <= 0) {
      shown.push(size > shown.length ? `… ${size - shown.length} more` : '…')
      break
    }
    const text = show(item)
    room.left -= text.length + 2
    shown.push(text)
  }
  return shown
}

const wrap = (name: string, open: string, items: string[], close: string): string => {
  if (items.length === 0) return `${name}${open}${close}`
  const space = open === '{' ? ' ' : ''
  return `${name}${open}${space}${items.join(', ')}${space}${close}`
}

const nameOf = (value: object): string => {
  const prototype = Object.getPrototypeOf(value) as { constructor?: unknown } | null
  if (prototype === null) return '[Object: null prototype]'
  const maker = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value as
    | { name?: unknown }
    | undefined
  return typeof maker?.name === 'string' && maker.name !== '' ? maker.name.slice(0, 100) : 'Object'
}

const safely = (show: () => string): string => {
  try {
    return show()
  } catch {
    return '[cannot be shown]'
  }
}
