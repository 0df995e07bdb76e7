import type { UrlSetter } from '../../bridge.ts'
import { ask } from '../ask.ts'
import { splitHref, type UrlParts } from './url-parts.ts'
import { paramsOfQuery, replaceParams, toUSVString, URLSearchParams } from './url-search-params.ts'

export { URLSearchParams }

const made = Symbol('made from a href')

/**
 * URL standard, 6.1. The parser is the process's own (with all of IDNA, which would be a third of the prelude); here
 * are the href that it wrote and the components of that.
 */
export class URL {
  #href: string
  #parts: UrlParts | undefined
  #params: URLSearchParams | undefined

  constructor(url: string, base: unknown = undefined) {
    if (arguments.length === 0) throw new TypeError('A URL is made from a text')
    const text = base === made ? url : parse(url, base)
    if (text === '')
      throw new TypeError(`Invalid URL: ${shown(url)}${base === undefined ? '' : `, base ${shown(base)}`}`)
    this.#href = text
  }

  static parse(url: string, base: unknown = undefined): URL | null {
    need(arguments.length, 'parse')
    const href = parse(url, base)
    return href === '' ? null : new URL(href, made)
  }

  static canParse(url: string, base: unknown = undefined): boolean {
    need(arguments.length, 'canParse')
    return parse(url, base) !== ''
  }

  get href(): string {
    return this.#href
  }
  set href(value: string) {
    const href = parse(value, undefined)
    if (href === '') throw new TypeError(`Invalid URL: ${shown(value)}`)
    this.#become(href)
  }

  get origin(): string {
    return originOf(this.#split())
  }

  get protocol(): string {
    return this.#split().protocol
  }
  set protocol(value: string) {
    this.#set('url-protocol', value)
  }

  get username(): string {
    return this.#split().username
  }
  set username(value: string) {
    this.#set('url-username', value)
  }

  get password(): string {
    return this.#split().password
  }
  set password(value: string) {
    this.#set('url-password', value)
  }

  get host(): string {
    return this.#split().host
  }
  set host(value: string) {
    this.#set('url-host', value)
  }

  get hostname(): string {
    return this.#split().hostname
  }
  set hostname(value: string) {
    this.#set('url-hostname', value)
  }

  get port(): string {
    return this.#split().port
  }
  set port(value: string) {
    this.#set('url-port', value)
  }

  get pathname(): string {
    return this.#split().pathname
  }
  set pathname(value: string) {
    this.#set('url-pathname', value)
  }

  get search(): string {
    return this.#split().search
  }
  set search(value: string) {
    this.#set('url-search', value)
  }

  get searchParams(): URLSearchParams {
    this.#params ??= paramsOfQuery(this.#split().search, (query) => this.#setQuery(query))
    return this.#params
  }

  get hash(): string {
    return this.#split().hash
  }
  set hash(value: string) {
    this.#set('url-hash', value)
  }

  toString(): string {
    return this.#href
  }

  toJSON(): string {
    return this.#href
  }

  #split(): UrlParts {
    this.#parts ??= splitHref(this.#href)
    return this.#parts
  }

  #set(setter: UrlSetter, value: string): void {
    const before = this.#href
    const text = toUSVString(value)
    const href = text.length > longestUrl ? '' : ask(setter, before, text)
    if (href !== '') this.#become(href)
  }

  #become(href: string): void {
    this.#href = href
    this.#parts = undefined
    if (this.#params !== undefined) replaceParams(this.#params, this.#split().search.slice(1))
  }

  /** The query is the parameters' own text already: it needs no parser. */
  #setQuery(query: string): void {
    const hashAt = this.#href.indexOf('#')
    const hash = hashAt === -1 ? '' : this.#href.slice(hashAt)
    const rest = hashAt === -1 ? this.#href : this.#href.slice(0, hashAt)
    const queryAt = rest.indexOf('?')
    const path = queryAt === -1 ? rest : rest.slice(0, queryAt)
    this.#href = `${path}${query === '' ? '' : `?${query}`}${hash}`
    this.#parts = undefined
  }
}

/** The process takes no longer ones (runtime/process/ask/parse-url.ts); here no text is copied in vain. */
const longestUrl = 1_048_576

const parse = (url: unknown, base: unknown): string => {
  const text = toUSVString(url)
  const baseText = base === undefined ? '' : toUSVString(base)
  if (text.length > longestUrl || baseText.length > longestUrl) return ''
  return base === undefined ? ask('url', text) : ask('url', text, baseText)
}

/** URL standard, 4.7. */
const originOf = ({ protocol, host, pathname }: UrlParts): string => {
  if (/^(?:https?|wss?|ftp):$/.test(protocol)) return `${protocol}//${host}`
  if (protocol !== 'blob:') return 'null'
  const inner = ask('url', pathname)
  return /^https?:/.test(inner) ? originOf(splitHref(inner)) : 'null'
}

const need = (given: number, operation: string): void => {
  if (given === 0) throw new TypeError(`URL.${operation} takes a text`)
}

/** As much of a wrong text as helps. */
const shown = (value: unknown): string => JSON.stringify(`${value as string}`.slice(0, 200))
