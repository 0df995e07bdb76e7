import type { AbortSignal } from '../events/abort-signal.ts'
import { toWord } from '../web-idl.ts'
import { toHeaderName } from './header-syntax.ts'
import type { HeadersInit } from './headers.ts'
import { parseUrlFor } from './request-url.ts'

export type RequestInit = {
  method?: string
  headers?: HeadersInit
  body?: unknown
  redirect?: string
  signal?: AbortSignal | null
  [option: string]: unknown
}

/**
 * Everything of a request but its headers and body. `browser` holds what only a browser acts on, for those few
 * requests that say anything about it.
 */
export type RequestOutline = {
  method: string
  url: string
  redirect: 'follow' | 'error' | 'manual'
  browser: BrowserOptions | undefined
}

/** Kept and read back, as the standard says. The prelude uses `mode` and `integrity` alone. */
export type BrowserOptions = typeof defaultOptions

export const defaultOptions = {
  referrer: 'about:client',
  referrerPolicy: '',
  mode: 'cors',
  credentials: 'same-origin',
  cache: 'default',
  integrity: '',
  keepalive: false,
}

const redirects = ['follow', 'error', 'manual'] as const
const modes = ['same-origin', 'no-cors', 'cors', 'navigate']
const credentials = ['omit', 'same-origin', 'include']
const caches = ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached']
const priorities = ['high', 'low', 'auto']
const policies = [
  '',
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
]
const forbiddenMethods = new Set(['CONNECT', 'TRACE', 'TRACK'])

/**
 * The outline of a new request: what `init` says over what it is made from. Throws a TypeError on nonsense.
 * `init` may be a Request itself, as routers write `new Request(url, request)`.
 */
export const toRequestOutline = (
  from: { url: string } & Partial<RequestOutline>,
  init: RequestInit | undefined,
): RequestOutline => {
  const { url, method = 'GET', redirect = 'follow', browser } = from
  if (init === undefined) return { url, method, redirect, browser }
  const options = toBrowserOptions(browser, init)
  const given = init.method
  const outline: RequestOutline = {
    url,
    method: given === undefined ? method : toMethod(given),
    redirect: init.redirect === undefined ? redirect : toWord(init.redirect, redirects, '"redirect"'),
    browser: options,
  }
  if (options?.mode === 'no-cors' && !['GET', 'HEAD', 'POST'].includes(outline.method)) {
    throw new TypeError(`A request of the mode "no-cors" cannot have the method ${outline.method}`)
  }
  return outline
}

const toBrowserOptions = (
  from: BrowserOptions | undefined,
  init: RequestInit,
): BrowserOptions | undefined => {
  const { cache, credentials: sent, duplex, integrity, keepalive, mode, priority, referrer } = init
  const { referrerPolicy, window } = init
  if (window !== undefined && window !== null) throw new TypeError('"window" of a request can only be null')
  if (duplex !== undefined) toWord(duplex, ['half'], '"duplex"')
  if (priority !== undefined) toWord(priority, priorities, '"priority"')
  const isSilent =
    cache === undefined &&
    sent === undefined &&
    integrity === undefined &&
    keepalive === undefined &&
    mode === undefined &&
    referrer === undefined &&
    referrerPolicy === undefined
  if (isSilent) return from
  const options = { ...(from ?? defaultOptions) }
  if (referrer !== undefined) options.referrer = toReferrer(referrer)
  if (referrerPolicy !== undefined)
    options.referrerPolicy = toWord(referrerPolicy, policies, '"referrerPolicy"')
  if (mode !== undefined) options.mode = toWord(mode, modes, '"mode"')
  if (options.mode === 'navigate') throw new TypeError('Only a browser makes requests of the mode "navigate"')
  if (sent !== undefined) options.credentials = toWord(sent, credentials, '"credentials"')
  if (cache !== undefined) options.cache = toWord(cache, caches, '"cache"')
  if (options.cache === 'only-if-cached' && options.mode !== 'same-origin') {
    throw new TypeError('"only-if-cached" goes with the mode "same-origin" only')
  }
  if (integrity !== undefined) options.integrity = `${integrity}`
  if (keepalive !== undefined) options.keepalive = Boolean(keepalive)
  return options
}

/** There is no origin to compare with, so each URL is kept. */
const toReferrer = (given: unknown): string => {
  const text = `${given}`
  return text === '' ? '' : parseUrlFor(text, 'The referrer of a request').href
}

/** Every method is written in upper case; the standard does so for the common ones only. */
const toMethod = (given: unknown): string => {
  const method = toHeaderName(`${given}`).toUpperCase()
  if (forbiddenMethods.has(method)) throw new TypeError(`The method ${method} cannot be used`)
  return method
}
