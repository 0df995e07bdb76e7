import { toHeaderName } from './header-syntax.ts'

/** Method, address and redirect mode of a request. */
export type RequestOutline = { method: string; url: string; redirect: 'follow' | 'error' | 'manual' }

const forbiddenMethods = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** The outline of a new request: what `init` says over what it is made from. Throws a TypeError on nonsense. */
export const toRequestOutline = (
  from: { url: string } & Partial<RequestOutline>,
  init: { method?: unknown; redirect?: unknown } | null | undefined,
): RequestOutline => ({
  url: from.url,
  method: init?.method === undefined ? (from.method ?? 'GET') : toMethod(init.method),
  redirect: init?.redirect === undefined ? (from.redirect ?? 'follow') : toRedirect(init.redirect),
})

/** Every method is written in upper case; the standard does so for the common ones only. */
const toMethod = (given: unknown): string => {
  const method = toHeaderName(`${given}`).toUpperCase()
  if (forbiddenMethods.has(method)) throw new TypeError(`The method ${method} cannot be used`)
  return method
}

const toRedirect = (given: unknown): RequestOutline['redirect'] => {
  if (given === 'follow' || given === 'error' || given === 'manual') return given
  throw new TypeError(`"redirect" is "follow", "error" or "manual", not ${JSON.stringify(`${given}`)}`)
}
