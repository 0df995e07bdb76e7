import { definePairIterators } from '../pair-iterator.ts'
import { reflectApply } from '../primordials.ts'
import { iterateBy, requireArguments } from '../web-idl.ts'
import { type Guard, isSimpleHeader, isSimpleHeaderName } from './header-guard.ts'
import { toByteString, toHeaderName, toHeaderValue } from './header-syntax.ts'

/** Names in lower case, in the order in which they were added, repeats kept. */
export type HeaderList = [name: string, value: string][]
export type HeadersInit = Headers | Iterable<Iterable<unknown>> | Record<string, unknown>

let listOf: (headers: Headers) => HeaderList
let guardOf: (headers: Headers) => Guard
let sortedOf: (headers: Headers) => HeaderList
let adopt: (list: HeaderList, guard: Guard) => Headers
let append: (headers: Headers, name: unknown, value: unknown) => void
let fill: (headers: Headers, init: HeadersInit) => void

/** Fetch standard, 5.1. */
export class Headers {
  #list: HeaderList = []
  #guard: Guard = 'none'
  /** The list as iterators see it; made when one asks, and thrown away by the next change. */
  #sorted: HeaderList | undefined

  static {
    listOf = (headers) => headers.#list
    guardOf = (headers) => headers.#guard
    sortedOf = (headers) => {
      headers.#sorted ??= sortAndCombine(headers.#list)
      return headers.#sorted
    }
    adopt = (list, guard) => {
      const headers = new Headers()
      headers.#list = list
      headers.#guard = guard
      return headers
    }
    append = (headers, name, value) => {
      const key = toHeaderName(name)
      const text = toHeaderValue(value, key)
      if (headers.#guard !== 'none') {
        headers.#assertMutable()
        const before = headerValue(headers.#list, key)
        if (!isSimpleHeader(key, before === null ? text : `${before}, ${text}`)) return
      }
      headers.#list.push([key, text])
      headers.#sorted = undefined
    }
    fill = (headers, init) => {
      if ((typeof init !== 'object' && typeof init !== 'function') || init === null)
        throw new TypeError('Headers are made from an object or pairs')
      const iterator: unknown = (init as Iterable<unknown>)[Symbol.iterator]
      if (iterator === entriesOfHeaders && #list in init && headers.#guard === 'none') {
        for (const [name, value] of init.#list) headers.#list.push([name, value])
        return
      }
      const isList = iterator !== undefined && iterator !== null
      for (const [name, value] of isList ? toPairs(iterateBy(iterator, init)) : toRecord(init)) {
        append(headers, name, value)
      }
    }
  }

  constructor(init: HeadersInit | undefined = undefined) {
    if (init !== undefined) fill(this, init)
  }

  append(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2, 'Headers.append')
    append(this, name, value)
  }

  delete(name: unknown): void {
    requireArguments(arguments.length, 1, 'Headers.delete')
    const key = toHeaderName(name)
    if (this.#guard !== 'none') {
      this.#assertMutable()
      if (!isSimpleHeaderName(key)) return
    }
    if (!hasHeader(this.#list, key)) return
    this.#list = this.#list.filter((pair) => pair[0] !== key)
    this.#sorted = undefined
  }

  get(name: unknown): string | null {
    requireArguments(arguments.length, 1, 'Headers.get')
    return headerValue(this.#list, toHeaderName(name))
  }

  getSetCookie(): string[] {
    return this.#list.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1])
  }

  has(name: unknown): boolean {
    requireArguments(arguments.length, 1, 'Headers.has')
    return hasHeader(this.#list, toHeaderName(name))
  }

  set(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2, 'Headers.set')
    const key = toHeaderName(name)
    const text = toHeaderValue(value, key)
    if (this.#guard !== 'none') {
      this.#assertMutable()
      if (!isSimpleHeader(key, text)) return
    }
    this.#sorted = undefined
    const at = this.#list.findIndex((pair) => pair[0] === key)
    if (at === -1) {
      this.#list.push([key, text])
      return
    }
    this.#list = this.#list.filter((pair, index) => index <= at || pair[0] !== key)
    this.#list[at] = [key, text]
  }

  forEach(
    callback: (value: string, name: string, headers: Headers) => void,
    thisArgument: unknown = undefined,
  ): void {
    let pairs = sortedOf(this)
    if (typeof callback !== 'function') throw new TypeError('Headers.forEach needs a function')
    // Live, as the standard says: a header that is added on the way may still be visited.
    for (let index = 0; index < pairs.length; index++) {
      const [name, value] = pairs[index] as [string, string]
      callback.call(thisArgument, value, name, this)
      pairs = sortedOf(this)
    }
  }

  entries(): IterableIterator<[string, string]> {
    return this.#list && iterate(this, 'entries')
  }

  keys(): IterableIterator<string> {
    return this.#list && iterate(this, 'keys')
  }

  values(): IterableIterator<string> {
    return this.#list && iterate(this, 'values')
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries()
  }

  #assertMutable(): void {
    if (this.#guard === 'immutable')
      throw new TypeError('These headers cannot be changed; copy them with new Headers(headers)')
  }
}

/** Also the value of `Symbol.iterator` once the interface has its shape: scripts cannot observe the iteration then. */
const entriesOfHeaders = Headers.prototype.entries
const iterate = definePairIterators('Headers', (headers: Headers) => sortedOf(headers))

/** Web IDL: the whole list becomes strings before the first header is looked at. */
const toPairs = (list: Iterable<unknown>): HeaderList => {
  const pairs: HeaderList = []
  for (const item of list) {
    if (typeof item !== 'object' || item === null) throw new TypeError('Each pair of headers is a list')
    const parts = [...(item as Iterable<unknown>)].map(toByteString)
    if (parts.length !== 2) throw new TypeError('Each pair of headers has a name and a value')
    pairs.push(parts as [string, string])
  }
  return pairs
}

const toRecord = (record: object): HeaderList => {
  const pairs: HeaderList = []
  const names = ownKeys(record)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (!reflectApply(isEnumerable, record, [name])) continue
    // A symbol has no text, so this is where it throws its TypeError.
    const key = toByteString(name)
    pairs.push([key, toByteString((record as Record<string, unknown>)[name])])
  }
  return pairs
}

const { ownKeys } = Reflect
const { propertyIsEnumerable: isEnumerable } = Object.prototype

/** Fetch standard, "sort and combine": sorted by name, `set-cookie` never combined. */
const sortAndCombine = (list: HeaderList): HeaderList => {
  const combined = new Map<string, string>()
  const cookies: HeaderList = []
  for (const [name, value] of list) {
    if (name === 'set-cookie') cookies.push([name, value])
    else combined.set(name, combined.has(name) ? `${combined.get(name)}, ${value}` : value)
  }
  return [...combined, ...cookies].sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))
}

/** The pairs of a Headers object, not copied. */
export const headerListOf = (headers: Headers): HeaderList => listOf(headers)

/** The value of a header by its name in lower case; several are joined by commas. */
export const headerValue = (list: HeaderList, name: string): string | null => {
  let found: string | null = null
  for (const pair of list) {
    if (pair[0] === name) found = found === null ? pair[1] : `${found}, ${pair[1]}`
  }
  return found
}

export const hasHeader = (list: HeaderList, name: string): boolean => {
  for (const pair of list) if (pair[0] === name) return true
  return false
}

/** Headers around pairs that are known to be well-formed, as those from the sandbox process are. */
export const adoptHeaders = (list: HeaderList, options: { immutable: boolean }): Headers =>
  adopt(list, options.immutable ? 'immutable' : 'none')

/** Headers with a guard, filled through it. */
export const createGuardedHeaders = (guard: Guard, init: HeadersInit | undefined): Headers => {
  const headers = adopt([], guard)
  if (init !== undefined) fill(headers, init)
  return headers
}

/** A copy with the guard of the original. */
export const copyHeaders = (headers: Headers): Headers =>
  adopt(
    listOf(headers).map(([name, value]) => [name, value]),
    guardOf(headers),
  )
