import type { Context } from 'koa'
import { parseDate } from '../../schemas/parse-date.ts'
import { AnnexError } from '../errors.ts'
import type { Person } from './caller.ts'

/** Limits a list to the caller's organization. An operator sees all. */
export const ownOf = (caller: Person): { organizationId?: string } =>
  caller.kind === 'operator' ? {} : { organizationId: caller.organizationId }

const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** Aborted when the connection of a request is closed. */
export function closedSignal({ res }: Context): AbortSignal {
  const gone = new AbortController()
  // The client may have left while its token was checked.
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

/** The answer of a list: a page, and `next`, where the next page begins. The last page has no `next`. */
export function toPage<Item extends { id: string }, View>(
  items: readonly Item[],
  limit: number,
  toView: (item: Item) => View,
): { items: View[]; next?: { before: string }; count: number } {
  const last = items.at(-1)
  return {
    items: items.map(toView),
    ...(items.length === limit && last !== undefined && { next: { before: last.id } }),
    count: items.length,
  }
}

type Places = { before?: string; after?: string }

/**
 * Reads where a page begins, in a list whose ids are numbers.
 *
 * @throws AnnexError `bad_request`
 */
export function numbersIn({ before, after }: Places): { before?: number; after?: number } {
  return {
    ...(before !== undefined && { before: toNumber('before', before) }),
    ...(after !== undefined && { after: toNumber('after', after) }),
  }
}

function toNumber(name: keyof Places, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw badPlace(name, given, 'the id of one of the list, a whole number')
}

/**
 * Reads where a page begins, in a list whose ids have a prefix.
 *
 * @throws AnnexError `bad_request`
 */
export function idIn({ before }: Places, prefix: string): { before?: string } {
  if (before === undefined) return {}
  if (before.startsWith(`${prefix}_`) && /^[a-z]+_[0-9a-f-]{36}$/.test(before)) return { before }
  throw badPlace('before', before, `the id of one of the list, ${prefix}_…`)
}

export const badPlace = (name: keyof Places, given: string, what: string): AnnexError =>
  new AnnexError('bad_request', `${name} is ${what}, not "${clip(given)}". "next" of a page says it.`)

/**
 * Parses a time of a query or body, in Unix ms.
 *
 * @throws AnnexError `bad_request`
 */
export function timeOf(name: string, text: string): number {
  const ms = parseDate(text)
  if (!Number.isNaN(ms)) return ms
  throw new AnnexError('bad_request', `${name} is a time such as 2026-01-01T00:00:00.000Z, not "${text}".`)
}

/** A time in an answer, from Unix ms. */
export const toIso = (ms: number): string => new Date(ms).toISOString()
