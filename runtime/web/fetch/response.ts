import type { Blob } from '../file/blob.ts'
import type { FormData } from '../file/form-data.ts'
import { toJsonText } from '../primordials.ts'
import type { ReadableStream } from '../streams/streams.ts'
import { requireArguments, toDictionary, toUnsignedShort } from '../web-idl.ts'
import { type Body, bodyOfSource, cloneBody, isBodyUsed, streamOfBody } from './body.ts'
import { extractBody } from './extract-body.ts'
import { toByteString } from './header-syntax.ts'
import {
  adoptHeaders,
  copyHeaders,
  type HeaderList,
  Headers,
  type HeadersInit,
  hasHeader,
  headerListOf,
  headerValue,
} from './headers.ts'
import { illegal, readBlob, readBuffer, readBytes, readFormData, readJson, readText } from './read-body.ts'
import { parseUrlFor } from './request-url.ts'

export type ResponseInit = { status?: number; statusText?: string; headers?: HeadersInit }

/** Everything of a response but its body and headers. */
type Outline = { status: number; statusText: string; type: string; url: string; redirected: boolean }

export const nullBodyStatus = new Set([101, 103, 204, 205, 304])
const redirectStatus = new Set([301, 302, 303, 307, 308])
/** The default outline. Outlines are never changed, so they are shared. */
const plain: Outline = { status: 200, statusText: '', type: 'default', url: '', redirected: false }

let partsOf: (response: Response) => Outline & { headers: HeaderList; body: Body | null }
let create: (outline: Outline, headers: Headers, body: Body | null) => Response
let isResponseObject: (value: unknown) => value is Response

/** Fetch standard, 5.5. */
export class Response {
  #outline: Outline
  #headers: Headers
  #body: Body | null

  static {
    isResponseObject = (value): value is Response =>
      typeof value === 'object' && value !== null && #outline in value
    partsOf = (response) => ({
      ...response.#outline,
      headers: headerListOf(response.#headers),
      body: response.#body,
    })
    create = (outline, headers, body) => {
      const response = new Response()
      response.#outline = outline
      response.#headers = headers
      response.#body = body
      return response
    }
  }

  constructor(body: unknown = null, init: ResponseInit | null | undefined = undefined) {
    const options = toDictionary(init, 'The second argument of Response')
    this.#outline = options === undefined ? plain : toOutline(options)
    this.#headers = new Headers(options?.headers)
    this.#body = null
    if (body === null || body === undefined) return
    assertMayHaveBody(this.#outline.status)
    const extracted = extractBody(body)
    this.#body = extracted.body
    addContentType(this.#headers, extracted.type)
  }

  static error(): Response {
    return create({ ...plain, status: 0, type: 'error' }, adoptHeaders([], { immutable: true }), null)
  }

  static json(data: unknown, init: ResponseInit | null | undefined = undefined): Response {
    requireArguments(arguments.length, 1, 'Response.json')
    const text = toJsonText(data)
    if (text === undefined) throw new TypeError('The value given to Response.json cannot be written as JSON')
    const response = new Response(null, init)
    assertMayHaveBody(response.#outline.status)
    response.#body = bodyOfSource(text)
    addContentType(response.#headers, 'application/json')
    return response
  }

  static redirect(url: unknown, status: unknown = 302): Response {
    requireArguments(arguments.length, 1, 'Response.redirect')
    const location = parseUrlFor(url, 'The URL of a redirect').href
    const code = toUnsignedShort(status)
    if (!redirectStatus.has(code)) throw new RangeError(`${code} is no status of a redirect`)
    return create(
      { ...plain, status: code },
      adoptHeaders([['location', location]], { immutable: true }),
      null,
    )
  }

  get type(): string {
    return this.#outline.type
  }
  get url(): string {
    return this.#outline.url
  }
  get redirected(): boolean {
    return this.#outline.redirected
  }
  get status(): number {
    return this.#outline.status
  }
  get ok(): boolean {
    return this.#outline.status >= 200 && this.#outline.status <= 299
  }
  get statusText(): string {
    return this.#outline.statusText
  }
  get headers(): Headers {
    return this.#headers
  }
  get body(): ReadableStream | null {
    return this.#body === null ? null : streamOfBody(this.#body)
  }
  get bodyUsed(): boolean {
    return isBodyUsed(this.#body)
  }

  clone(): Response {
    const body = cloneBody(this.#body, 'Response')
    return create(this.#outline, copyHeaders(this.#headers), body)
  }
  arrayBuffer(): Promise<ArrayBuffer> {
    return isResponse(this) ? readBuffer(this.#body, 'Response') : illegal('Response')
  }
  blob(): Promise<Blob> {
    return isResponse(this) ? readBlob(this.#body, 'Response', this.#contentType()) : illegal('Response')
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return isResponse(this) ? readBytes(this.#body, 'Response') : illegal('Response')
  }
  formData(): Promise<FormData> {
    return isResponse(this) ? readFormData(this.#body, 'Response', this.#contentType()) : illegal('Response')
  }
  json(): Promise<unknown> {
    return isResponse(this) ? readJson(this.#body, 'Response') : illegal('Response')
  }
  text(): Promise<string> {
    return isResponse(this) ? readText(this.#body, 'Response') : illegal('Response')
  }

  #contentType(): string | null {
    return headerValue(headerListOf(this.#headers), 'content-type')
  }
}

/** RFC 9112, 4: a reason phrase has no line breaks and no control characters. */
const reasonPhrase = /^[\t\x20-\x7e\x80-\xff]*$/

const toOutline = (init: ResponseInit): Outline => {
  const status = init.status === undefined ? 200 : toUnsignedShort(init.status)
  const statusText = init.statusText === undefined ? '' : toByteString(init.statusText)
  if (status < 200 || status > 599)
    throw new RangeError(`A response has a status of 200 to 599, not ${String(init.status)}`)
  if (!reasonPhrase.test(statusText))
    throw new TypeError('The status text of a response may hold no control characters')
  return { status, statusText, type: 'default', url: '', redirected: false }
}

const assertMayHaveBody = (status: number): void => {
  if (nullBodyStatus.has(status)) throw new TypeError(`A response with the status ${status} has no body`)
}

const addContentType = (headers: Headers, type: string | null): void => {
  const list = headerListOf(headers)
  if (type !== null && !hasHeader(list, 'content-type')) list.push(['content-type', type])
}

export const isResponse = (value: unknown): value is Response => isResponseObject(value)

/** The parts of a response that the bridge needs, read without any property that a script could have replaced. */
export const responseParts = (response: Response) => partsOf(response)

/** The response of a `fetch`. Its headers are immutable, as the standard says. */
export const createFetchedResponse = (
  outline: Omit<Outline, 'type'>,
  headers: HeaderList,
  body: Body | null,
): Response => create({ ...outline, type: 'basic' }, adoptHeaders(headers, { immutable: true }), body)
