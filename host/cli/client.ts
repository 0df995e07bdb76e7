import { AnnexError, messageOf } from '../errors/annex-error.ts'
import { quoteValue } from '../manifest/problems/visible-text.ts'
import { ApiError } from './api/api-error.ts'
import { readServerEvents, type ServerEvent } from './api/event-stream.ts'
import { UsageError } from './usage-error.ts'

type Query = Record<string, string | number | undefined>

/** The REST API of a running Annex. Each call throws ApiError, or AnnexError `unavailable` when nobody answers. */
export type Api = {
  url: string
  get<T>(path: string, query?: Query): Promise<T>
  post<T>(path: string, body?: object, query?: Query): Promise<T>
  patch<T>(path: string, body: object): Promise<T>
  put<T>(path: string, body: object): Promise<T>
  delete<T = void>(path: string): Promise<T>
  /** Server-sent events, until the server ends the stream or the connection breaks. `onPlace` is told where to go on. */
  events(
    path: string,
    query: Query,
    from: { lastEventId: string | undefined; onPlace: (id: string) => void },
  ): AsyncGenerator<ServerEvent>
}

const timeoutMs = 30_000

/** @param server.token bearer token; without one only open routes answer */
export function createApi(server: { url: string; token?: string | undefined }): Api {
  const call = async <T>(method: string, path: string, query: Query = {}, body?: object): Promise<T> => {
    const response = await send(server, method, toUrl(server.url, path, query), { ...(body && { body }) })
    const answer = await readAnswer(response)
    if (!response.ok) throw new ApiError(response.status, answer)
    return answer as T
  }
  return {
    url: server.url,
    get: (path, query) => call('GET', path, query),
    post: (path, body, query) => call('POST', path, query, body ?? {}),
    patch: (path, body) => call('PATCH', path, {}, body),
    put: (path, body) => call('PUT', path, {}, body),
    delete: (path) => call('DELETE', path),
    async *events(path, query, { lastEventId, onPlace }) {
      const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) }
      const response = await send(server, 'GET', toUrl(server.url, path, query), { headers, endless: true })
      if (!response.ok) throw new ApiError(response.status, await readAnswer(response))
      if (response.body !== null) yield* readServerEvents(response.body, onPlace)
    },
  }
}

/**
 * A path whose parts came from the command line: none of them can leave its place.
 *
 * @throws UsageError for one that would make it another path
 */
export const toPath = (fixed: TemplateStringsArray, ...parts: string[]): string =>
  String.raw({ raw: fixed }, ...parts.map((part) => encodeURIComponent(assertName(part))))

/** @throws UsageError for what nothing is named by */
export function assertName(text: string): string {
  if (!/^\.*$/.test(text)) return text
  throw new UsageError(
    `${text === '' ? 'An empty text' : quoteValue(text)} is no id and no name. The lists show them, such as \`annex deliveries\`.`,
  )
}

function toUrl(base: string, path: string, query: Query): URL {
  const url = new URL(path, base)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}

async function send(
  { url: base, token }: { url: string; token?: string | undefined },
  method: string,
  url: URL,
  { body, headers, endless }: { body?: object; headers?: Record<string, string>; endless?: boolean },
): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      // The token is for this server alone.
      redirect: 'error',
      ...(endless !== true && { signal: AbortSignal.timeout(timeoutMs) }),
    })
  } catch (cause) {
    throw new AnnexError('unavailable', whyNoAnswer(base, cause), { cause })
  }
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
