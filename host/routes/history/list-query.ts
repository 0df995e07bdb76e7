import type { ParsedUrlQuery } from 'node:querystring'
import type { Caller } from '../../access/tokens.ts'
import { AnnexError } from '../../errors/annex-error.ts'
import { assertPerson } from '../../http/caller.ts'

const maxItems = 200

/** Operators see all; members what belongs to their organization. */
export function ownOf(caller: Caller): { organizationId?: string } {
  assertPerson(caller)
  return caller.kind === 'operator' ? {} : { organizationId: caller.organizationId }
}

export function texts(query: ParsedUrlQuery): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(query).filter((entry) => typeof entry[1] === 'string')) as Record<
    string,
    string
  >
}

/** @throws AnnexError `bad_request` */
export function limitOf(query: ParsedUrlQuery): number {
  const given = query.limit ?? '50'
  const limit = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= maxItems) return limit
  throw new AnnexError('bad_request', `limit is a whole number from 1 to ${maxItems}, not "${given}".`)
}

/** A number that says where a page begins: the id of a record. */
export function placeIn(query: ParsedUrlQuery, name: 'before' | 'after'): { [name]?: number } {
  const given = query[name]
  return typeof given === 'string' ? { [name]: Number(given) || 0 } : {}
}
