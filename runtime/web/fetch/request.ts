import type { RequestHead, WireBody } from '../../bridge.ts'
import { AbortSignal, createFollowingSignal } from '../events/abort-signal.ts'
import type { Blob } from '../file/blob.ts'
import type { FormData } from '../file/form-data.ts'
import type { ReadableStream } from '../streams/streams.ts'
import { requireArguments, toDictionary } from '../web-idl.ts'
import {
  type Body,
  bodyFromWire,
  cloneBody,
  isBodyUnusable,
  isBodyUsed,
  streamOfBody,
  takeOverBody,
} from './body.ts'
import { extractBody } from './extract-body.ts'
import {
  adoptHeaders,
  copyHeaders,
  createGuardedHeaders,
  type HeaderList,
  type Headers,
  hasHeader,
  headerListOf,
  headerValue,
} from './headers.ts'
import { illegal, readBlob, readBuffer, readBytes, readFormData, readJson, readText } from './read-body.ts'
import { defaultOptions, type RequestInit, type RequestOutline, toRequestOutline } from './request-init.ts'
import { parseRequestUrl } from './request-url.ts'
import { signalOfVisit, type Visit } from './visit.ts'

let partsOf: (request: Request) => {
  outline: RequestOutline
  headers: HeaderList
  body: Body | null
  signal: AbortSignal | undefined
}
let create: (outline: RequestOutline, headers: Headers, body: Body | null, visit?: Visit) => Request
let isRequestObject: (value: unknown) => value is Request

const made = Symbol('made by the prelude')

/** Fetch standard, 5.4. */
export class Request {
  #outline: RequestOutline
  #headers: Headers
  #body: Body | null = null
  /** Made on first use: few handlers look at it. */
  #signal: AbortSignal | undefined
  /** Of a request that came in. */
  #visit: Visit | undefined

  static {
    isRequestObject = (value): value is Request =>
      typeof value === 'object' && value !== null && #outline in value
    partsOf = (request) => ({
      outline: request.#outline,
      headers: headerListOf(request.#headers),
      body: request.#body,
      signal: request.#signal,
    })
    create = (outline, headers, body, visit) => {
      const request = new Request(made as never)
      request.#outline = outline
      request.#headers = headers
      request.#body = body
      request.#visit = visit
      return request
    }
  }

  constructor(input: unknown, init: RequestInit | null | undefined = undefined) {
    if (input === made) {
      // `create` fills it.
      this.#outline = undefined as never
      this.#headers = undefined as never
      return
    }
    requireArguments(arguments.length, 1, 'new Request')
    const from = isRequest(input) ? input : undefined
    const options = isRequest(init) ? init.#asInit() : toDictionary(init, 'The second argument of Request')
    this.#outline = toRequestOutline(
      from === undefined ? { url: parseRequestUrl(input) } : from.#outline,
      options,
    )
    const guard = this.#outline.browser?.mode === 'no-cors' ? 'request-no-cors' : 'none'
    const inheritedHeaders = from === undefined ? undefined : from.#headers
    this.#headers = createGuardedHeaders(guard, options?.headers ?? inheritedHeaders)
    const signal = options?.signal === undefined && from !== undefined ? from.#toFollow() : options?.signal
    if (signal !== undefined && signal !== null) {
      if (!(signal instanceof AbortSignal)) throw new TypeError('The signal of a request is an AbortSignal')
      this.#signal = createFollowingSignal([signal])
    }
    if (isRequest(init)) this.#shareBody(init)
    else this.#takeBody(from, options?.body)
  }

  get method(): string {
    return this.#outline.method
  }
  get url(): string {
    return this.#outline.url
  }
  get headers(): Headers {
    return this.#headers
  }
  get destination(): string {
    return this.#outline && ''
  }
  get referrer(): string {
    return (this.#outline.browser ?? defaultOptions).referrer
  }
  get referrerPolicy(): string {
    return (this.#outline.browser ?? defaultOptions).referrerPolicy
  }
  get mode(): string {
    return (this.#outline.browser ?? defaultOptions).mode
  }
  get credentials(): string {
    return (this.#outline.browser ?? defaultOptions).credentials
  }
  get cache(): string {
    return (this.#outline.browser ?? defaultOptions).cache
  }
  get redirect(): string {
    return this.#outline.redirect
  }
  get integrity(): string {
    return (this.#outline.browser ?? defaultOptions).integrity
  }
  get keepalive(): boolean {
    return (this.#outline.browser ?? defaultOptions).keepalive
  }
  get isReloadNavigation(): boolean {
    return this.#outline && false
  }
  get isHistoryNavigation(): boolean {
    return this.#outline && false
  }
  get signal(): AbortSignal {
    this.#signal ??= this.#visit === undefined ? createFollowingSignal([]) : signalOfVisit(this.#visit)
    return this.#signal
  }
  get duplex(): string {
    return this.#outline && 'half'
  }
  get body(): ReadableStream | null {
    return this.#body === null ? null : streamOfBody(this.#body)
  }
  get bodyUsed(): boolean {
    return isBodyUsed(this.#body)
  }

  clone(): Request {
    const body = cloneBody(this.#body, 'Request')
    const copy = create(this.#outline, copyHeaders(this.#headers), body)
    const signal = this.#toFollow()
    if (signal !== undefined) copy.#signal = createFollowingSignal([signal])
    return copy
  }
  arrayBuffer(): Promise<ArrayBuffer> {
    return isRequest(this) ? readBuffer(this.#body, 'Request') : illegal('Request')
  }
  blob(): Promise<Blob> {
    return isRequest(this) ? readBlob(this.#body, 'Request', this.#contentType()) : illegal('Request')
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return isRequest(this) ? readBytes(this.#body, 'Request') : illegal('Request')
  }
  formData(): Promise<FormData> {
    return isRequest(this) ? readFormData(this.#body, 'Request', this.#contentType()) : illegal('Request')
  }
  json(): Promise<unknown> {
    return isRequest(this) ? readJson(this.#body, 'Request') : illegal('Request')
  }
  text(): Promise<string> {
    return isRequest(this) ? readText(this.#body, 'Request') : illegal('Request')
  }

  #contentType(): string | null {
    return headerValue(headerListOf(this.#headers), 'content-type')
  }

  /** The fields that `new Request(url, request)` reads of `request`, without making streams and signals for it. */
  #asInit(): RequestInit {
    const { method, redirect, browser } = this.#outline
    const init: RequestInit = { ...browser, method, redirect, headers: this.#headers }
    const signal = this.#toFollow()
    return signal === undefined ? init : { ...init, signal }
  }

  /** The signal that a copy follows, where it may ever abort. */
  #toFollow(): AbortSignal | undefined {
    return this.#visit === undefined ? this.#signal : this.signal
  }

  /** The same stream is the body of both requests: the first reader gets it. */
  #shareBody(init: Request): void {
    if (init.#body === null) return
    this.#assertMayHaveBody()
    if (isBodyUnusable(init.#body))
      throw new TypeError('The body of the given request was read, or is locked')
    this.#body = init.#body
  }

  #takeBody(from: Request | undefined, given: unknown): void {
    const inherited = given === undefined || given === null ? (from === undefined ? null : from.#body) : null
    if ((given === undefined || given === null) && inherited === null) return
    this.#assertMayHaveBody()
    if (inherited !== null) {
      this.#body = takeOverBody(inherited)
      return
    }
    const extracted = extractBody(given)
    if (extracted.body.stream !== undefined) {
      if (this.keepalive) throw new TypeError('A request with "keepalive" cannot have a stream as its body')
      if (this.mode === 'no-cors')
        throw new TypeError('A request of the mode "no-cors" cannot have a stream as its body')
    }
    this.#body = extracted.body
    const list = headerListOf(this.#headers)
    if (extracted.type !== null && !hasHeader(list, 'content-type'))
      list.push(['content-type', extracted.type])
  }

  #assertMayHaveBody(): void {
    const { method } = this.#outline
    if (method === 'GET' || method === 'HEAD')
      throw new TypeError(`A request with the method ${method} has no body`)
  }
}

const isRequest = (value: unknown): value is Request => isRequestObject(value)

/** The parts of a request that `fetch` sends. */
export const requestParts = (request: Request) => partsOf(request)

/** The request of a dispatch. Its URL and headers come from the sandbox process, well-formed. */
export const createIncomingRequest = (
  head: RequestHead,
  body: WireBody | ReadableStream | undefined,
  visit: Visit,
): Request =>
  create(
    { method: head.method, url: head.url, redirect: 'follow', browser: undefined },
    adoptHeaders(head.headers, { immutable: false }),
    bodyFromWire(body, headerValue(head.headers, 'content-length')),
    visit,
  )
