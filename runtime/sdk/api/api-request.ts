import { ApiError } from './api-error.ts'

export type Query = Record<string, string | number | boolean | string[] | undefined>
export type ApiResponse<T> = { data: T; status: number; headers: Headers }
export type ApiRequestOptions = { method?: string; path: string; body?: unknown; query?: Query }
export type ApiAccess = {
  endpoint: string
  token: string | undefined
  userAgent: string
  /** Versions of settings that the script has seen, by their paths. */
  versions?: Map<string, string>
}
export type ApiRequest = <T = unknown>(options: ApiRequestOptions) => Promise<ApiResponse<T>>

/**
 * Requests to the platform API with one token. `path` comes without `/v1`. Rejects with an ApiError, with the
 * server's own message, where the status is not 2xx.
 */
export const createApiRequest =
  (access: ApiAccess): ApiRequest =>
  async <T>(options: ApiRequestOptions) => {
    const response = await sendApiRequest(access, options, 'application/json')
    const data = parseData(await response.text(), response.headers)
    return { data: data as T, status: response.status, headers: response.headers }
  }

/** Sends a request, and rejects with an ApiError where the status is not 2xx. */
export const sendApiRequest = async (
  { endpoint, token, versions }: ApiAccess,
  { method = 'GET', path, body, query = {} }: ApiRequestOptions,
  accept: string,
): Promise<Response> => {
  const headers: Record<string, string> = { accept }
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  const version = versions?.get(path)
  if (version !== undefined && method === 'PATCH' && replacesSettings(body)) headers['if-match'] = version
  const response = await fetch(`${endpoint}/v1${path}${toQueryText(query)}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const newVersion = response.headers.get('etag')
  if (version !== undefined && response.ok && newVersion !== null) versions?.set(path, newVersion)
  if (response.ok) return response
  throw toApiError(parseData(await response.text(), response.headers), response, `${method} ${path}`)
}

/** An edit that keeps settings undoes no newer one. */
const replacesSettings = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'configuration' in body && !('keep' in body)

/** A path with its ids encoded: an id that holds a slash stays one segment. */
export const path = (parts: TemplateStringsArray, ...ids: string[]): string =>
  parts.reduce((text, part, index) => text + encodeURIComponent(`${ids[index - 1]}`) + part)

const toQueryText = (query: Query): string => {
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) if (item !== undefined) fields.append(name, `${item}`)
  }
  const text = `${fields}`
  return text === '' ? '' : `?${text}`
}

const parseData = (text: string, headers: Headers): unknown => {
  if (text === '' || headers.get('content-type')?.includes('json') !== true) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const toApiError = (data: unknown, { status, statusText }: Response, what: string): ApiError => {
  const error = (data as { error?: { code?: unknown; message?: unknown } } | undefined)?.error
  const message =
    typeof error?.message === 'string' ? error.message : `${what}: ${status} ${statusText}`.trim()
  return new ApiError(message, status, typeof error?.code === 'string' ? error.code : undefined)
}
