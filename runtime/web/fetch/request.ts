import type { RequestHead, WireBody } from '../../bridge.ts'
import { AbortSignal, createFollowingSignal } from '../events/abort-signal.ts'
import type { Blob } from '../file/blob.ts'
import type { FormData } from '../file/form-data.ts'
import { type ReadableStream, TransformStream } from '../streams/streams.ts'
import { URL } from '../url/url.ts'
import {
  type Body,
  bodyFromWire,
  bodyOfSource,
  bodyOfStream,
  cloneBody,
  consumeBytes,
  consumeText,
  isBodyUnusable,
  isBodyUsed,
  streamOfBody,
} from './body.ts'
import { extractBody } from './extract-body.ts'
import { adoptHeaders, type HeaderList, Headers, type HeadersInit, headerListOf } from './headers.ts'
import { readBlob, readFormData, readJson } from './read-body.ts'
import { type RequestOutline, toRequestOutline } from './request-outline.ts'

export type RequestInit = {
  method?: string
  headers?: HeadersInit
  body?: unknown
  redirect?: string
  signal?: AbortSignal | null
  [option: string]: unknown
}

let partsOf: (request: Request) => {
  outline: RequestOutline
  headers: HeaderList
  body: Body | null
  signal: AbortSignal | undefined
}
let create: (outline: RequestOutline, headers: Headers, body: Body | null) => Request
let isRequestObject: (value: unknown) => value is Request

const made = Symbol('made by the prelude')

/** Fetch standard, 5.3. What only a browser has (mode, credentials, cache …) keeps its default. */
export class Request {
  #outline: RequestOutline
  #headers: Headers
  #body: Body | null = null
  /** Made on first use: few handlers look at it. */
  #signal: AbortSignal | undefined

  static {
    isRequestObject = (value): value is Request =>
      typeof value === 'object' && value !== null && #outline in value
    partsOf = (request) => ({
      outline: request.#outline,
      headers: headerListOf(request.#headers),
      body: request.#body,
      signal: request.#signal,
    })
    create = (outline, headers, body) => {
      const request = new Request(made as never)
      request.#outline = outline
      request.#headers = headers
      request.#body = body
      return request
    }
  }

  constructor(input: unknown, init?: RequestInit | null) {
    if (input === made) {
      // `create` fills it.
      this.#outline = undefined as never
      this.#headers = undefined as never
      return
    }
    const from = isRequest(input) ? input : undefined
    this.#outline = toRequestOutline(from === undefined ? parseUrl(input) : from.#outline, init)
    this.#headers = new Headers(init?.headers ?? (from === undefined ? undefined : from.#headers))
    this.#takeBody(from, init)
    const signal = init?.signal === undefined && from !== undefined ? from.#signal : init?.signal
    if (signal === undefined || signal === null) return
    if (!(signal instanceof AbortSignal)) throw new TypeError('The signal of a request is an AbortSignal')
    this.#signal = createFollowingSignal([signal])
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
  get redirect(): string {
    return this.#outline.redirect
  }
  get signal(): AbortSignal {
    this.#signal ??= createFollowingSignal([])
    return this.#signal
  }
  get body(): ReadableStream | null {
    return this.#body === null ? null : streamOfBody(this.#body)
  }
  get bodyUsed(): boolean {
    return isBodyUsed(this.#body)
  }
  get destination(): string {
    return ''
  }
  get referrer(): string {
    return 'about:client'
  }
  get referrerPolicy(): string {
    return ''
  }
  get mode(): string {
    return 'cors'
  }
  get credentials(): string {
    return 'same-origin'
  }
  get cache(): string {
    return 'default'
  }
  get integrity(): string {
    return ''
  }
  get keepalive(): boolean {
    return false
  }
  get duplex(): string {
    return 'half'
  }

  clone(): Request {
    const body = cloneBody(this.#body, 'Request')
    const copy = create({ ...this.#outline }, new Headers(this.#headers), body)
    if (this.#signal !== undefined) copy.#signal = createFollowingSignal([this.#signal])
    return copy
  }
  text(): Promise<string> {
    return consumeText(this.#body, 'Request')
  }
  json(): Promise<unknown> {
    return readJson(this.#body, 'Request')
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return consumeBytes(this.#body, 'Request')
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await consumeBytes(this.#body, 'Request')).buffer
  }
  blob(): Promise<Blob> {
    return readBlob(this.#body, 'Request', this.#headers.get('content-type'))
  }
  formData(): Promise<FormData> {
    return readFormData(this.#body, 'Request', this.#headers.get('content-type'))
  }

  #takeBody(from: Request | undefined, init: RequestInit | null | undefined): void {
    const given = init?.body
    const inheritedBody = from === undefined ? null : from.#body
    const inherited = given === undefined || given === null ? inheritedBody : null
    if ((given === undefined || given === null) && inherited === null) return
    if (this.#outline.method === 'GET' || this.#outline.method === 'HEAD') {
      throw new TypeError(`A request with the method ${this.#outline.method} has no body`)
    }
    if (inherited !== null) {
      if (isBodyUnusable(inherited))
        throw new TypeError('The body of the given request was read, or is locked')
      // The new request takes the body over; the old one counts as read.
      this.#body =
        inherited.stream === undefined
          ? bodyOfSource(inherited.source ?? '')
          : bodyOfStream(inherited.stream.pipeThrough(new TransformStream()))
      inherited.used = true
      return
    }
    const extracted = extractBody(given)
    this.#body = extracted.body
    if (extracted.type !== null && !this.#headers.has('content-type')) {
      this.#headers.append('content-type', extracted.type)
    }
  }
}

const parseUrl = (input: unknown): { url: string } => {
  const text = `${input}`
  let url: globalThis.URL
  try {
    url = new URL(text)
  } catch {
    throw new TypeError(`${JSON.stringify(text.slice(0, 200))} is no absolute URL`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('A URL that is fetched may hold no user name or password; send them as a header')
  }
  return { url: url.href }
}

export const isRequest = (value: unknown): value is Request => isRequestObject(value)

/** What `fetch` sends of a request. */
export const requestParts = (request: Request) => partsOf(request)

/** The request of a dispatch. Its URL and headers come from the sandbox process, well-formed. */
export const createIncomingRequest = (
  head: RequestHead,
  body: WireBody | ReadableStream | undefined,
): Request =>
  create(
    { method: head.method, url: head.url, redirect: 'follow' },
    adoptHeaders(head.headers, { immutable: false }),
    bodyFromWire(body),
  )
