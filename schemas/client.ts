import type { Operations, Routes } from './generated/api/operations.ts'

// A client of the API, for programs and pages: it uses the web's own fetch, and nothing of Node or of the host.

/** An operation, as the documents name it. One of levels has the account's address. */
export type Address = keyof Routes
type At<A extends Address> = Operations[Routes[A]]

/** `site` or `space` beside `installation` name the level of that site or space. */
export type Params<A extends Address> = At<A>['params']
export type Answer<A extends Address> = At<A>['answer']
/** A record of a list. */
export type Item<A extends Address> = Answer<A> extends { items: (infer Record)[] } ? Record : never
export type ListAddress = { [A in Address]: [Item<A>] extends [never] ? never : A }[Address]

type Field<Name extends string, Value> = undefined extends Value
  ? { [_ in Name]?: undefined }
  : Record<never, never> extends Value
    ? { [_ in Name]?: Value }
    : { [_ in Name]: Value }

export type Request<A extends Address> = Field<'params', Params<A>> &
  Field<'body', At<A>['body']> & {
    query?: Partial<At<A>['query']>
    headers?: Record<string, string>
    signal?: AbortSignal
  }

/** All but the required fields may be left out. */
type Rest<A extends Address> =
  Record<never, never> extends Request<A> ? [request?: Request<A>] : [request: Request<A>]

export type Client = {
  url: string
  /** @throws ApiError, ParameterError, NoAnnexError; the error of `fetch` without an answer */
  call: <A extends Address>(address: A, ...request: Rest<A>) => Promise<Answer<A>>
  /** As `call`, with the ETag of the record. Send it as `if-match` to change the record as it was read. */
  read: <A extends Address>(address: A, ...request: Rest<A>) => Promise<Versioned<Answer<A>>>
  /** All records of a list, read page by page. */
  all: <A extends ListAddress>(address: A, ...request: Rest<A>) => AsyncGenerator<Item<A>, void>
  /** The answer as it comes: a stream of server-sent events, or a file. */
  open: <A extends Address>(address: A, ...request: Rest<A>) => Promise<Response>
}

export type Versioned<Value> = { value: Value; etag: string }

/** The most that the API gives at once. */
const pageSize = 1_000

/**
 * @param server.token bearer token; without one the API answers open operations only
 * @param server.fetch in place of the web's own
 */
export function createClient(server: {
  url: string
  token?: string | undefined
  fetch?: (url: URL, init: RequestInit) => Promise<Response>
}): Client {
  const { token, fetch: send = fetch } = server

  async function open(address: Address, request: AnyRequest = {}): Promise<Response> {
    const { method, path } = toMethodAndPath(address, request.params)
    const url = new URL(path, server.url)
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const { body, headers, signal } = request
    const response = await send(url, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect would send the token to another server.
      redirect: 'error',
      ...(signal && { signal }),
    })
    if (response.ok) return response
    throw new ApiError(response.status, await response.json().catch(() => undefined))
  }

  async function read(address: Address, request?: AnyRequest): Promise<Versioned<unknown>> {
    const response = await open(address, request)
    const value = response.status === 204 ? undefined : await readJson(response)
    return { value, etag: response.headers.get('etag') ?? '*' }
  }

  async function* all(address: Address, request: AnyRequest = {}): AsyncGenerator<unknown, void> {
    for (let page: string | undefined, isFirst = true; isFirst || page !== undefined; isFirst = false) {
      const query = { limit: pageSize, ...request.query, page }
      const { items, next } = (await read(address, { ...request, query })).value as List
      yield* items
      page = next?.page
    }
  }

  const call = async (address: Address, request?: AnyRequest) => (await read(address, request)).value
  return { url: server.url, call, read, all, open } as Client
}

type AnyRequest = {
  params?: object | undefined
  query?: object | undefined
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}
type List = { items: unknown[]; next?: { page: string } }

/**
 * Each parameter stays one segment of the path.
 *
 * @throws ParameterError
 */
function toMethodAndPath(address: Address, given: object = {}): { method: string; path: string } {
  const params = new Map<string, string>(Object.entries(given))
  const [method = '', account = ''] = address.split(' ')
  const kind = ['site', 'space'].find((name) => params.has(name) && !account.includes(`{${name}}`))
  const level = kind === undefined ? '' : `/${kind}s/{${kind}}`
  const path = account
    .replace('{installation}', `{installation}${level}`)
    .replace(/\{(\w+)\}/g, (_all, name: string) => {
      const value = params.get(name) ?? ''
      if (/^\.*$/.test(value)) throw new ParameterError(value, `${name} in ${address}`)
      return encodeURIComponent(value)
    })
  return { method, path }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new NoAnnexError(response.url, { cause })
  }
}

/** A parameter is an empty text or a dot segment, which would make another path. */
export class ParameterError extends RangeError {
  override readonly name = 'ParameterError'
  readonly value: string

  constructor(value: string, where: string) {
    super(`"${value}" is no ${where}.`)
    this.value = value
  }
}

/** Another server answers at the address. */
export class NoAnnexError extends Error {
  override readonly name = 'NoAnnexError'

  constructor(url: string, options: ErrorOptions) {
    super(`${url} answers, but not as an Annex does.`, options)
  }
}

/** What is wrong, and where: `path` is a JSON pointer into the body. */
export type ErrorDetail = { path: string; message: string; value?: unknown }

/** An error answer of the API. docs/errors.md lists the codes. */
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
