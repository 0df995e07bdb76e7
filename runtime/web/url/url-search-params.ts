import { definePairIterators } from '../pair-iterator.ts'
import { type Pair, parseUrlencoded, serializeUrlencoded } from './urlencoded.ts'

let pairsOf: (params: URLSearchParams) => Pair[]
let replace: (params: URLSearchParams, query: string) => void
let attach: (query: string, changed: (query: string) => void) => URLSearchParams

/** URL standard, 6.2. */
export class URLSearchParams {
  #pairs: Pair[] = []
  #changed: ((query: string) => void) | undefined

  static {
    pairsOf = (params) => params.#pairs
    replace = (params, query) => {
      params.#pairs = parseUrlencoded(query)
    }
    attach = (query, changed) => {
      const params = new URLSearchParams(query)
      params.#changed = changed
      return params
    }
  }

  constructor(init: unknown = '') {
    if ((typeof init === 'object' && init !== null) || typeof init === 'function') {
      this.#pairs = pairsOfObject(init)
      return
    }
    const text = toUSVString(init)
    this.#pairs = parseUrlencoded(text.startsWith('?') ? text.slice(1) : text)
  }

  get size(): number {
    return this.#pairs.length
  }

  append(name: string, value: string): void {
    need(arguments.length, 2, 'append')
    this.#pairs.push([toUSVString(name), toUSVString(value)])
    this.#update()
  }

  delete(name: string, value: unknown = undefined): void {
    need(arguments.length, 1, 'delete')
    const matches = matcher(name, value)
    this.#pairs = this.#pairs.filter((pair) => !matches(pair))
    this.#update()
  }

  get(name: string): string | null {
    need(arguments.length, 1, 'get')
    const key = toUSVString(name)
    return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null
  }

  getAll(name: string): string[] {
    need(arguments.length, 1, 'getAll')
    const key = toUSVString(name)
    return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1])
  }

  has(name: string, value: unknown = undefined): boolean {
    need(arguments.length, 1, 'has')
    return this.#pairs.some(matcher(name, value))
  }

  set(name: string, value: string): void {
    need(arguments.length, 2, 'set')
    const pair: Pair = [toUSVString(name), toUSVString(value)]
    const at = this.#pairs.findIndex((other) => other[0] === pair[0])
    if (at === -1) this.#pairs.push(pair)
    else {
      this.#pairs = this.#pairs.filter((other, index) => index <= at || other[0] !== pair[0])
      this.#pairs[at] = pair
    }
    this.#update()
  }

  sort(): void {
    // By code units, which is how the language compares texts; pairs of one name keep their order.
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    this.#update()
  }

  forEach(
    callback: (value: string, name: string, params: URLSearchParams) => void,
    thisArgument: unknown = undefined,
  ): void {
    if (typeof callback !== 'function') throw new TypeError('forEach needs a function')
    for (let index = 0; index < this.#pairs.length; index++) {
      const [name, value] = this.#pairs[index] as Pair
      callback.call(thisArgument, value, name, this)
    }
  }

  entries(): URLSearchParamsIterator<Pair> {
    return iterate(this.#self(), 'entries')
  }

  keys(): URLSearchParamsIterator<string> {
    return iterate(this.#self(), 'keys')
  }

  values(): URLSearchParamsIterator<string> {
    return iterate(this.#self(), 'values')
  }

  [Symbol.iterator](): URLSearchParamsIterator<Pair> {
    return this.entries()
  }

  toString(): string {
    return serializeUrlencoded(this.#pairs)
  }

  /** Throws where `this` is something else, as any use of a private field does. */
  #self(): this {
    void this.#pairs
    return this
  }

  #update(): void {
    this.#changed?.(serializeUrlencoded(this.#pairs))
  }
}

const iterate = definePairIterators<URLSearchParams>('URLSearchParams', (params) => pairsOf(params))

/** The parameters of a URL: `changed` gets the new query each time they change. */
export const paramsOfQuery = (query: string, changed: (query: string) => void): URLSearchParams =>
  attach(query, changed)

/** Makes the parameters those of another query, without telling their URL. */
export const replaceParams = (params: URLSearchParams, query: string): void => replace(params, query)

/** Web IDL, 3.2.14: lone surrogates become U+FFFD. */
export const toUSVString = (value: unknown): string => `${value as string}`.toWellFormed()

const matcher = (name: unknown, value: unknown): ((pair: Pair) => boolean) => {
  const key = toUSVString(name)
  if (value === undefined) return (pair) => pair[0] === key
  const text = toUSVString(value)
  return (pair) => pair[0] === key && pair[1] === text
}

/** Web IDL's union of a sequence of pairs and a record. */
const pairsOfObject = (init: object): Pair[] => {
  const iterator = (init as Partial<Iterable<unknown>>)[Symbol.iterator]
  if (iterator === undefined || iterator === null) return pairsOfRecord(init)
  if (typeof iterator !== 'function') throw new TypeError('The iterator of URLSearchParams is no function')
  return [...(init as Iterable<Iterable<unknown>>)].map((item) => {
    if (typeof item !== 'object' || item === null)
      throw new TypeError('Each pair of URLSearchParams is a list')
    const pair = [...item]
    if (pair.length !== 2) throw new TypeError('Each pair of URLSearchParams has a name and a value')
    return [toUSVString(pair[0]), toUSVString(pair[1])]
  })
}

const pairsOfRecord = (init: object): Pair[] => {
  const record = new Map<string, string>()
  for (const key of Reflect.ownKeys(init)) {
    if (Reflect.getOwnPropertyDescriptor(init, key)?.enumerable !== true) continue
    const name = toUSVString(key)
    record.set(name, toUSVString((init as Record<string | symbol, unknown>)[key]))
  }
  return [...record]
}

const need = (given: number, least: number, operation: string): void => {
  if (given < least)
    throw new TypeError(`URLSearchParams.${operation} takes ${least} arguments, not ${given}`)
}
