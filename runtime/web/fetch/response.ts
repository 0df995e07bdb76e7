import type { Blob } from '../file/blob.ts'
import type { FormData } from '../file/form-data.ts'
import type { ReadableStream } from '../streams/streams.ts'
import { URL } from '../url/url.ts'
import {
  type Body,
  bodyOfSource,
  cloneBody,
  consumeBytes,
  consumeText,
  isBodyUsed,
  streamOfBody,
} from './body.ts'
import { extractBody } from './extract-body.ts'
import { adoptHeaders, type HeaderList, Headers, type HeadersInit, headerListOf } from './headers.ts'
import { readBlob, readFormData, readJson } from './read-body.ts'

export type ResponseInit = { status?: number; statusText?: string; headers?: HeadersInit }

/** Everything of a response but its body and headers. */
type Outline = { status: number; statusText: string; type: string; url: string; redirected: boolean }

const nullBodyStatus = new Set([101, 103, 204, 205, 304])
const redirectStatus = new Set([301, 302, 303, 307, 308])

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

  constructor(body: unknown = null, init?: ResponseInit | null) {
    this.#outline = toOutline(init)
    this.#headers = new Headers(init?.headers)
    this.#body = null
    if (body === null || body === undefined) return
    assertMayHaveBody(this.#outline.status)
    const extracted = extractBody(body)
    this.#body = extracted.body
    addContentType(this.#headers, extracted.type)
  }

  static json(data: unknown, init?: ResponseInit | null): Response {
    const text = JSON.stringify(data)
    if (text === undefined) throw new TypeError('The value given to Response.json cannot be written as JSON')
    const response = new Response(null, init)
    assertMayHaveBody(response.#outline.status)
    response.#body = bodyOfSource(text)
    addContentType(response.#headers, 'application/json')
    return response
  }

  static redirect(url: unknown, status = 302): Response {
    const location = new URL(`${url}`).href
    if (!redirectStatus.has(status)) throw new RangeError(`${status} is no status of a redirect`)
    const outline = { ...toOutline({}), status }
    return create(outline, adoptHeaders([['location', location]], { immutable: true }), null)
  }

  static error(): Response {
    const outline = { ...toOutline({}), status: 0, type: 'error' }
    return create(outline, adoptHeaders([], { immutable: true }), null)
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
    return create({ ...this.#outline }, new Headers(this.#headers), body)
  }
  text(): Promise<string> {
    return consumeText(this.#body, 'Response')
  }
  json(): Promise<unknown> {
    return readJson(this.#body, 'Response')
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return consumeBytes(this.#body, 'Response')
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await consumeBytes(this.#body, 'Response')).buffer
  }
  blob(): Promise<Blob> {
    return readBlob(this.#body, 'Response', this.#headers.get('content-type'))
  }
  formData(): Promise<FormData> {
    return readFormData(this.#body, 'Response', this.#headers.get('content-type'))
  }
}

const toOutline = (init: ResponseInit | null | undefined): Outline => {
  if (init !== undefined && init !== null && typeof init !== 'object') {
    throw new TypeError('The second argument of Response is an object')
  }
  const status = init?.status === undefined ? 200 : Math.trunc(Number(init.status))
  if (!(status >= 200 && status <= 599)) {
    throw new RangeError(`A response has a status of 200 to 599, not ${String(init?.status)}`)
  }
  const statusText = init?.statusText === undefined ? '' : `${init.statusText}`
  // RFC 9112, 4: a reason phrase has no line breaks and no control characters.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(statusText)) {
    throw new TypeError('The status text of a response may hold no control characters')
  }
  return { status, statusText, type: 'default', url: '', redirected: false }
}

const assertMayHaveBody = (status: number): void => {
  if (nullBodyStatus.has(status)) throw new TypeError(`A response with the status ${status} has no body`)
}

const addContentType = (headers: Headers, type: string | null): void => {
  if (type !== null && !headers.has('content-type')) headers.append('content-type', type)
}

export const isResponse = (value: unknown): value is Response => isResponseObject(value)

/** What the bridge needs of a response, read without any property that a script could have replaced. */
export const responseParts = (response: Response) => partsOf(response)

/** The response of a `fetch`. Its headers are immutable, as the standard says. */
export const createFetchedResponse = (
  outline: Omit<Outline, 'type'>,
  headers: HeaderList,
  body: Body | null,
): Response => create({ ...outline, type: 'basic' }, adoptHeaders(headers, { immutable: true }), body)
