import { createParser, type ParseError } from 'eventsource-parser'
import { AnnexError, type ErrorDetail, messageOf } from '../errors.ts'
import { quoteValue } from '../manifest/message-text.ts'
import { UsageError } from './options.ts'
import type { List } from './records.ts'

type Query = Record<string, string | number | undefined>

/** The REST API of a running Annex. Each call throws ApiError, or AnnexError `unavailable` without an answer. */
export type Api = {
  url: string
  get<T>(path: string, query?: Query): Promise<T>
  /** All items of a list, page after page. */
  list<T>(path: string, query?: Query): Promise<List<T>>
  post<T>(path: string, body?: object, query?: Query): Promise<T>
  /** A `post` that may take any time. */
  postLong<T>(path: string, body: object): Promise<T>
  patch<T>(path: string, body: object): Promise<T>
  put<T>(path: string, body: object): Promise<T>
  delete<T = void>(path: string): Promise<T>
  /** Reads a record with its ETag. */
  read<T>(path: string): Promise<Versioned<T>>
  /** Changes a record as it was read. Throws ApiError `precondition_failed` when it has changed since. */
  edit<T>(
    method: 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    etag: string,
    body?: object,
  ): Promise<Versioned<T>>
  /**
   * Server-sent events, until the server ends the stream or the connection breaks.
   *
   * @param from.lastEventId the cursor to continue at
   * @param from.onCursor gets a new cursor that came without an event
   */
  events(
    path: string,
    query: Query,
    from: { lastEventId: string | undefined; onCursor: (id: string) => void },
  ): AsyncGenerator<ServerEvent>
}

export type Versioned<T> = { value: T; etag: string }

const timeoutMs = 30_000

/** @param server.token bearer token; without one the API answers open routes only */
export function createApi(server: { url: string; token?: string | undefined }): Api {
  const call = async <T>(
    method: string,
    path: string,
    query: Query = {},
    body?: object,
    endless = false,
  ): Promise<T> => {
    const given = { ...(body && { body }), endless }
    const response = await send(server, method, toUrl(server.url, path, query), given)
    const answer = await readAnswer(response)
    if (!response.ok) throw new ApiError(response.status, answer)
    return answer as T
  }
  const withTag = async <T>(method: string, path: string, given: SendOptions): Promise<Versioned<T>> => {
    const response = await send(server, method, toUrl(server.url, path, {}), given)
    const value = await readAnswer(response)
    if (!response.ok) throw new ApiError(response.status, value)
    return { value: value as T, etag: response.headers.get('etag') ?? '*' }
  }
  const list = async <T>(path: string, query: Query = {}): Promise<List<T>> => {
    const items: T[] = []
    for (let page: string | undefined; ; ) {
      const answer: List<T> = await call('GET', path, { ...query, limit: 1000, page })
      items.push(...answer.items)
      page = answer.next?.page
      if (page === undefined) return { items, count: items.length }
    }
  }
  return {
    url: server.url,
    list,
    read: (path) => withTag('GET', path, {}),
    edit: (method, path, etag, body) =>
      withTag(method, path, { headers: { 'if-match': etag }, ...(body && { body }) }),
    get: (path, query) => call('GET', path, query),
    post: (path, body, query) => call('POST', path, query, body ?? {}),
    postLong: (path, body) => call('POST', path, {}, body, true),
    patch: (path, body) => call('PATCH', path, {}, body),
    put: (path, body) => call('PUT', path, {}, body),
    delete: (path) => call('DELETE', path),
    async *events(path, query, { lastEventId, onCursor }) {
      const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) }
      const response = await send(server, 'GET', toUrl(server.url, path, query), { headers, endless: true })
      if (!response.ok) throw new ApiError(response.status, await readAnswer(response))
      if (response.body !== null) yield* readServerEvents(response.body, onCursor)
    },
  }
}

/**
 * Builds a path from parts of the command line. Each part stays one segment.
 *
 * @throws UsageError for an empty part or a dot segment, which would make another path
 */
export const toPath = (fixed: TemplateStringsArray, ...parts: string[]): string =>
  String.raw({ raw: fixed }, ...parts.map((part) => encodeURIComponent(assertName(part))))

/** @throws UsageError for an empty text or a dot segment */
export function assertName(text: string): string {
  if (!/^\.*$/.test(text)) return text
  throw new UsageError(
    `${text === '' ? 'An empty text' : quoteValue(text)} is no id and no name. Lists show both: \`npx annex deliveries\`, for example.`,
  )
}

function toUrl(base: string, path: string, query: Query): URL {
  const url = new URL(path, base)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}

type SendOptions = { body?: object; headers?: Record<string, string>; endless?: boolean }

async function send(
  { url: base, token }: { url: string; token?: string | undefined },
  method: string,
  url: URL,
  { body, headers, endless }: SendOptions,
): Promise<Response> {
  try {
    const options: RequestInit = {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      // A redirect would send the token to another server.
      redirect: 'error',
      ...(endless !== true && { signal: AbortSignal.timeout(timeoutMs) }),
    }
    return endless === true ? await fetchEndlessly(url, options) : await fetch(url, options)
  } catch (cause) {
    throw new AnnexError('unavailable', whyNoAnswer(base, cause), { cause })
  }
}

/** Node's own fetch gives up after five minutes without an answer, and between two pieces of one. */
async function fetchEndlessly(url: URL, options: RequestInit): Promise<Response> {
  const undici = await import('undici')
  const dispatcher = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return (await undici.fetch(url, { ...(options as object), dispatcher })) as unknown as Response
}

function whyNoAnswer(base: string, cause: unknown): string {
  const inner = cause instanceof Error ? cause.cause : undefined
  if (inner instanceof Error && 'code' in inner && inner.code === 'ECONNREFUSED') {
    return `No Annex is running at ${base}. Start one with \`make run\`, or name another with --url or ANNEX_URL.`
  }
  const reason = inner instanceof Error ? inner.message : messageOf(cause)
  return `${base} does not answer (${reason}). Is an Annex running there? \`make run\` starts one.`
}

async function readAnswer(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!response.ok) return undefined
    throw new AnnexError('unavailable', `${response.url} answers, but not as an Annex does. Check --url.`, {
      cause,
    })
  }
}

/** An error answer of the API. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly details: ErrorDetail[]

  constructor(status: number, body: unknown) {
    const { code, message, requestId, details } = readError(body)
    super(message ?? `The server answered ${status} without saying why. Is it an Annex?`)
    this.status = status
    this.code = code ?? 'unknown'
    this.requestId = requestId
    this.details = details
  }
}

export const isApiError = (error: unknown, code?: string): error is ApiError =>
  error instanceof ApiError && (code === undefined || error.code === code)

type ErrorFields = { code?: string; message?: string; requestId?: string; details: ErrorDetail[] }

/** Another server may answer at this address: the types of its body are not certain. */
function readError(body: unknown): ErrorFields {
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const { code, message, requestId, details } = error
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
    ...(typeof requestId === 'string' && { requestId }),
    details: Array.isArray(details) ? details.filter(isDetail) : [],
  }
}

const isDetail = (value: unknown): value is ErrorDetail =>
  isObject(value) && typeof value.path === 'string' && typeof value.message === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

export type ServerEvent = { event: string; data: string; lastEventId: string; retryMs: number | undefined }

/** Another server may send a line or an event without an end. */
const maxBufferSize = 4 * 1024 * 1024

/**
 * Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html section 9.2.6. A last event without an
 * end is dropped.
 *
 * @param onCursor gets an id that comes without an event
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array>,
  onCursor: (id: string) => void = () => {},
): AsyncGenerator<ServerEvent> {
  let found: (ServerEvent | { cursor: string })[] = []
  let lastEventId = ''
  let retryMs: number | undefined
  let failed: ParseError | undefined
  const parser = createParser({
    maxBufferSize,
    onId(id) {
      lastEventId = id
      found.push({ cursor: id })
    },
    onEvent({ event, data, id }) {
      // The caller knows an event's cursor only once it has the event.
      if (id !== undefined) found.pop()
      found.push({ event: event || 'message', data, lastEventId, retryMs })
    },
    onRetry(ms) {
      retryMs = ms
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failed = error
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    const all = found
    found = []
    for (const one of all) {
      if (!('cursor' in one)) yield one
      else if (one.cursor !== '') onCursor(one.cursor)
    }
    if (failed !== undefined) throw failed
  }
}
