import { toHeaderName, toHeaderValue } from './header-syntax.ts'

/** Names in lower case, in the order in which they were added, repeats kept. */
export type HeaderList = [name: string, value: string][]
export type HeadersInit = Headers | Iterable<Iterable<unknown>> | Record<string, unknown>

let listOf: (headers: Headers) => HeaderList
let adopt: (list: HeaderList, immutable: boolean) => Headers
let isHeadersObject: (value: unknown) => value is Headers

/** Fetch standard, 5.1. Guards other than "immutable" make no difference on a server. */
export class Headers {
  #list: HeaderList = []
  #immutable = false

  static {
    listOf = (headers) => headers.#list
    adopt = (list, immutable) => {
      const headers = new Headers()
      headers.#list = list
      headers.#immutable = immutable
      return headers
    }
    isHeadersObject = (value): value is Headers =>
      typeof value === 'object' && value !== null && #list in value
  }

  constructor(init?: HeadersInit | null) {
    if (init === undefined) return
    if (typeof init !== 'object' || init === null)
      throw new TypeError('Headers are made from an object or pairs')
    if (isHeadersObject(init)) {
      for (const [name, value] of init.#list) this.#list.push([name, value])
    } else if (typeof (init as Iterable<unknown>)[Symbol.iterator] === 'function') {
      for (const pair of init as Iterable<Iterable<unknown>>) this.#appendPair(pair)
    } else {
      for (const name of Reflect.ownKeys(init)) {
        const property = Object.getOwnPropertyDescriptor(init, name)
        if (property?.enumerable)
          this.append(name as string, (init as Record<string, string>)[name as string])
      }
    }
  }

  append(name: unknown, value: unknown): void {
    const key = toHeaderName(name)
    const text = toHeaderValue(value, key)
    this.#assertMutable()
    this.#list.push([key, text])
  }

  delete(name: unknown): void {
    const key = toHeaderName(name)
    this.#assertMutable()
    if (this.has(key)) this.#list = this.#list.filter((pair) => pair[0] !== key)
  }

  get(name: unknown): string | null {
    const key = toHeaderName(name)
    let found: string | null = null
    for (const pair of this.#list) {
      if (pair[0] === key) found = found === null ? pair[1] : `${found}, ${pair[1]}`
    }
    return found
  }

  getSetCookie(): string[] {
    return this.#list.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1])
  }

  has(name: unknown): boolean {
    const key = toHeaderName(name)
    return this.#list.some((pair) => pair[0] === key)
  }

  set(name: unknown, value: unknown): void {
    const key = toHeaderName(name)
    const text = toHeaderValue(value, key)
    this.#assertMutable()
    const at = this.#list.findIndex((pair) => pair[0] === key)
    if (at === -1) {
      this.#list.push([key, text])
      return
    }
    this.#list = this.#list.filter((pair, index) => index <= at || pair[0] !== key)
    this.#list[at] = [key, text]
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, thisArgument?: unknown): void {
    if (typeof callback !== 'function') throw new TypeError('forEach needs a function')
    for (const [name, value] of this.entries()) callback.call(thisArgument, value, name, this)
  }

  *entries(): Generator<[string, string]> {
    // Live, as the standard says: a header that is added on the way may still be visited.
    for (let index = 0; ; index++) {
      const pair = sortAndCombine(this.#list)[index]
      if (pair === undefined) return
      yield pair
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name
  }

  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries()
  }

  #appendPair(pair: Iterable<unknown>): void {
    const parts = [...pair]
    if (parts.length !== 2) throw new TypeError('Each pair of headers has a name and a value')
    this.append(parts[0], parts[1])
  }

  #assertMutable(): void {
    if (this.#immutable)
      throw new TypeError('These headers cannot be changed; copy them with new Headers(headers)')
  }
}

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

/** Headers around pairs that are known to be well-formed, as those from the sandbox process are. */
export const adoptHeaders = (list: HeaderList, options: { immutable: boolean }): Headers =>
  adopt(list, options.immutable)
