import type { ParsedUrlQuery } from 'node:querystring'
import type { Context } from 'koa'
import { parseDate } from '../../schemas/parse-date.ts'
import type { Caller } from '../access/tokens.ts'
import { type Asker, lineOf } from '../db/looks/turns.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertPerson } from './caller.ts'

const maxItems = 200

/** Operators see all; members what belongs to their organization. */
export function ownOf(caller: Caller): { organizationId?: string } {
  assertPerson(caller)
  return caller.kind === 'operator' ? {} : { organizationId: caller.organizationId }
}

/**
 * What a query names, each once: of two filters of one name nobody could say which holds. What is not known is refused: who
 * pages by a name that a list does not have would get its first page for ever. PostgreSQL has no text with U+0000.
 *
 * @param names what the list takes, beside `limit`
 * @throws AnnexError `bad_request`
 */
export function texts<Name extends string>(
  query: ParsedUrlQuery,
  names: readonly Name[],
): { [Known in Name]?: string } {
  const known: readonly string[] = [...names, 'limit']
  const entries = Object.entries(query).map(([name, value]) => {
    if (!known.includes(name)) {
      throw new AnnexError(
        'bad_request',
        `"${clip(name)}" is nothing that this list takes: ${known.join(', ')}.`,
      )
    }
    if (typeof value !== 'string') throw new AnnexError('bad_request', `${name} is given more than once.`)
    if (value.includes('\0')) throw new AnnexError('bad_request', `${name} holds U+0000.`)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** @throws AnnexError `bad_request` */
export function limitOf(query: ParsedUrlQuery): number {
  const given = query.limit ?? '50'
  const limit = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= maxItems) return limit
  throw new AnnexError('bad_request', `limit is a whole number from 1 to ${maxItems}, not "${given}".`)
}

/** Who waits for an answer, until its connection is closed. */
export function askerOf({ res }: Context, own: { organizationId?: string }): Asker & { gone: AbortSignal } {
  const gone = new AbortController()
  // It may have been closed while it was looked up who asks.
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return { line: lineOf(own), gone: gone.signal }
}

/** A page of a list, as it is answered: with where the next one begins, unless this is the last. */
export function toPage<Item extends { id: string }>(
  items: readonly Item[],
  limit: number,
  toView: (item: Item) => object,
): object {
  const last = items.at(-1)
  return {
    items: items.map(toView),
    ...(items.length === limit && last !== undefined && { next: { before: last.id } }),
    count: items.length,
  }
}

type Places = { before?: string; after?: string }

/**
 * Where a page begins in a list whose ids are numbers.
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
 * Where a page begins in a list whose ids have a prefix.
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
 * A time that a query names, in Unix ms.
 *
 * @throws AnnexError `bad_request`
 */
export function timeOf(name: string, text: string): number {
  const ms = parseDate(text)
  if (!Number.isNaN(ms)) return ms
  throw new AnnexError('bad_request', `${name} is a time such as 2026-01-01T00:00:00.000Z, not "${text}".`)
}

/** @throws AnnexError `bad_request` */
export function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw new AnnexError('bad_request', `${name} is one of ${choices.join(', ')}, not "${text}".`)
}
