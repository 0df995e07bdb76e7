import type { Context } from 'koa'
import { actorOf, type Origin } from '../access/actor.ts'
import type { ScriptCaller, ScriptTokens } from '../access/script-tokens.ts'
import type { TokenUse } from '../access/token-use.ts'
import { type Caller, findCaller, hashOf, isExpired } from '../access/tokens.ts'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { findOrganization, type Organization } from '../db/queries/organizations.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import { readScopes } from '../installations/token-standing.ts'

/** Identifies the caller by the bearer token (RFC 6750). */
export type Authenticate = (context: Context) => Promise<Caller>

type CallerParts = {
  limits: RateLimits
  /** Sees each use of a person's token. */
  noteUse?: TokenUse['note']
  /** Gets a function that drops cached records. */
  onChange?: (forget: () => void) => void
}

/**
 * Each request is counted once: for its token, or for its visitor where the token is not valid.
 *
 * @returns a function that throws AnnexError `unauthorized` for a token that is missing, unknown or expired, `rate_limited`,
 *   and the errors of `readScopes` for the token of a script that is stopped
 */
export function createAuthenticate(
  db: Db,
  tokens: ScriptTokens,
  { limits, noteUse, onChange }: CallerParts,
): Authenticate {
  // The cache has hashes as keys: a leaked cache must not leak tokens.
  const people = cacheReads({ keyOf: hashOf, read: (token: string) => findCaller(db, token) })
  const scripts = cacheReads({ keyOf: hashOf, read: tokens.verify })
  const declared = cacheReads({
    keyOf: ({ scopes: _, ...caller }: ScriptCaller) => JSON.stringify(caller),
    read: (caller) => readScopes(db, caller),
    // A script that is stopped may ask on.
    cachesError: isAnnexError,
  })
  onChange?.(() => {
    people.forget()
    declared.forget()
  })
  return async (context) => {
    const token = /^Bearer +(\S+)$/i.exec(context.get('authorization'))?.[1]
    const { caller, refused } = (token === undefined ? undefined : await findHolder(token)) ?? {}
    // The feed authenticates its reader again and again.
    if (context.state.isCounted !== true) {
      context.state.isCounted = true
      const key = caller && token ? keyOf(caller, token) : undefined
      await (key === undefined
        ? limits.countVisitor(context, 'unauthorized')
        : limits.countToken(context, key))
    }
    if (refused !== undefined) {
      context.state.stopped = caller
      throw refused
    }
    if (caller !== undefined) return caller
    if (token === undefined) {
      throw new AnnexError(
        'unauthorized',
        'Send a token: "Authorization: Bearer …". `npx annex tokens new` makes one.',
      )
    }
    throw new AnnexError(
      'unauthorized',
      'This token is unknown, or has expired. `npx annex tokens new` makes a new one.',
    )
  }

  function findHolder(token: string): Promise<Holder | undefined> {
    return token.startsWith('annex_') ? findPerson(token) : findScript(token)
  }

  async function findPerson(token: string): Promise<Holder | undefined> {
    const known = await people.get(token)
    if (known === undefined || isExpired(known)) return undefined
    noteUse?.({ id: known.caller.tokenId, lastUsedAt: known.lastUsedAt })
    return { caller: known.caller }
  }

  async function findScript(token: string): Promise<Holder | undefined> {
    const caller = await scripts.get(token)
    if (caller === undefined) return undefined
    try {
      const scopes = await declared.get(caller)
      return (
        scopes && { caller: { ...caller, scopes: caller.scopes.filter((scope) => scopes.includes(scope)) } }
      )
    } catch (error) {
      if (!isAnnexError(error)) throw error
      return { caller, refused: error }
    }
  }
}

/** `refused`: the script is stopped. Its requests still count for its limit. */
type Holder = { caller: Caller; refused?: AnnexError }

/** A script gets a new token every few minutes: its requests count for the installation or the integration. */
function keyOf(caller: Caller, token: string): string {
  if (caller.kind === 'installation') return caller.installationId
  return caller.kind === 'integration' ? caller.integration : hashOf(token)
}

/** Where the changes of a request come from, for the audit. */
export const originOf = ({ caller, context }: { caller: Caller; context: Context }): Origin => ({
  actor: actorOf(caller),
  requestId: context.state.requestId,
  address: context.ip || null,
})

/** @throws AnnexError `forbidden` */
export function assertOperator(caller: Caller): void {
  if (caller.kind !== 'operator') throw new AnnexError('forbidden', 'Only an operator’s token may do this.')
}

export type Person = Extract<Caller, { kind: 'operator' | 'organization' }>

/** False for a script. */
export const isPerson = (caller: Caller): caller is Person =>
  caller.kind === 'operator' || caller.kind === 'organization'

/**
 * Finds the organization that a person acts for: the named one, or that of the token.
 *
 * @throws AnnexError `not_found` when it does not exist or the caller may not see it, `bad_request` when an operator names
 *   none
 */
export const organizationOf = (db: Db, caller: Person, name: string | undefined): Promise<Organization> =>
  theirOrganization((id) => findOrganization(db, id), caller, name)

/**
 * Limits a list to the named organization, else to that of the caller. An operator who names none sees all.
 *
 * @throws AnnexError `not_found`
 */
export async function ownerOf(
  db: Db,
  caller: Person,
  name: string | undefined,
): Promise<{ organizationId?: string }> {
  if (caller.kind === 'operator' && name === undefined) return {}
  return { organizationId: (await organizationOf(db, caller, name)).id }
}

/** As `organizationOf`, with another lookup: `POST /v1/events` has a cache. */
export async function theirOrganization(
  find: (id: string) => Promise<Organization | undefined>,
  caller: Person,
  name: string | undefined,
): Promise<Organization> {
  const id = name ?? (caller.kind === 'organization' ? caller.organizationId : undefined)
  if (id === undefined) {
    const text = 'Name the organization that this is for as `organization`, by its id or subdomain.'
    throw new AnnexError('bad_request', text)
  }
  const organization = await find(id)
  const isTheirs = caller.kind === 'operator' || organization?.id === caller.organizationId
  if (organization !== undefined && isTheirs) return organization
  throw new AnnexError('not_found', `There is no organization ${id} that this token may see.`)
}
