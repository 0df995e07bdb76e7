import type { ComponentLevel } from './render.ts'
import { type Fields, isElement, isFields, isText, ownValue } from './tree.ts'

/** The name of the value that `{ $state: name }` stands for, or undefined. */
function nameOf(value: unknown): string | undefined {
  if (!isFields(value)) return undefined
  const name = ownValue(value, '$state')
  return isText(name) ? name : undefined
}

/** A value with its references to the state filled in. A value of the state is taken as it is. */
export function resolve(value: unknown, state: Fields): unknown {
  const name = nameOf(value)
  if (name !== undefined) return ownValue(state, name)
  if (Array.isArray(value)) return value.map((one) => resolve(one, state))
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one, state)]))
}

/** An address: a text, a reference to one, or its parts. Undefined where it is none of http or https. */
export function toUrl(given: unknown, state: Fields): URL | undefined {
  const value = resolve(given, state)
  const text = isFields(value) ? fromParts(value) : value
  // Without a base: an address without a host would be one of Annex.
  if (!isText(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/**
 * The address of an endpoint of the installation, at the host of this page: the page may have come by another name of Annex than
 * the one that the script knows. The id tells that it is this installation's.
 */
export function toOwnUrl(url: URL, { integration, installation }: ComponentLevel): URL | undefined {
  const path = `/x/${integration}/${installation}`
  const isOwn = url.pathname === path || url.pathname.startsWith(`${path}/`)
  return isOwn ? new URL(url.pathname + url.search + url.hash, location.origin) : undefined
}

/** The host of this Annex has the scheme of its page. */
function fromParts({ host, pathname, query }: Fields): string | undefined {
  if (!isText(host) || /[/\\?#@\s]/.test(host)) return undefined
  const base = `${host === location.host ? location.protocol : 'https:'}//${host}`
  if (!URL.canParse(base)) return undefined
  const url = new URL(base)
  if (isText(pathname)) url.pathname = pathname
  for (const [name, value] of Object.entries(isFields(query) ? query : {})) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
  }
  return url.href
}

/** The state with the initial values of fields that have none yet: a person sees them, so an action sends them. */
export function withInitialValues(state: Fields, tree: unknown): Fields {
  const initial = new Map<string, unknown>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (isElement(value) && isText(value.state) && value.initialValue !== undefined) {
      if (!initial.has(value.state)) initial.set(value.state, resolve(value.initialValue, state))
    }
    for (const one of Object.values(value)) visit(one)
  }
  visit(tree)
  return Object.fromEntries([...initial, ...Object.entries(state)])
}
