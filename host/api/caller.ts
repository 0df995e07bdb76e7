import type { Context } from 'koa'
import { actorOf, type Origin } from '../access/actor.ts'
import type { ScriptCaller, ScriptTokens } from '../access/script-tokens.ts'
import { type AccountCaller, type Caller, findCaller, hashOf, isExpired } from '../access/tokens.ts'
import type { Uses } from '../access/uses.ts'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { findOrganization, type Organization } from '../db/queries/organizations.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import { readScopes } from '../installations/token-standing.ts'
import { type ReadSession, toAccountCaller, toCaller } from './read-session.ts'

/**
 * Identifies the caller by the bearer token (RFC 6750), else by the cookie of a session.
 *
 * @param asAccount true for operations of the own account: a session is its person, and not a role in an organization
 */
export type Authenticate = {
  (context: Context): Promise<Caller>
  (context: Context, asAccount: boolean): Promise<Caller | AccountCaller>
}

type CallerParts = {
  limits: RateLimits
  readSession: ReadSession
  /** Sees each use of a person's token. */
  noteUse?: Uses['note']
  /** Gets a function that drops cached records. */
  onChange?: (forget: () => void) => void
}

/**
 * Each request is counted once: for its token or session, or for its visitor where neither is valid.
 *
 * @returns a function that throws AnnexError `unauthorized` for a token or session that is missing, unknown or expired,
 *   `rate_limited`, the errors of `readSession` and `toCaller`, and those of `readScopes` for the token of a stopped script
 */
export function createAuthenticate(
  db: Db,
  tokens: ScriptTokens,
  { limits, readSession, noteUse, onChange }: CallerParts,
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
  return authenticate as Authenticate

  async function authenticate(context: Context, asAccount = false): Promise<Caller | AccountCaller> {
    const holder = await findHolder(context, asAccount)
    // The feed authenticates its reader again and again.
    if (context.state.isCounted !== true) {
      context.state.isCounted = true
      await (holder.key === undefined
        ? limits.countVisitor(context, 'unauthorized')
        : limits.countToken(context, holder.key))
    }
    if (holder.refused === undefined) return holder.caller
    context.state.stopped = holder.caller
    throw holder.refused
  }

  async function findHolder(context: Context, asAccount: boolean): Promise<Holder> {
    const authorization = context.get('authorization')
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    if (token === undefined) {
      const ofSession = await findPersonOfSession(context, asAccount)
      const text = 'Sign in, or send a token: "Authorization: Bearer …". `npx annex tokens new` makes one.'
      return ofSession ?? { refused: new AnnexError('unauthorized', text) }
    }
    const holder = await (token.startsWith('annex_') ? findPerson(token) : findScript(token))
    const text = 'This token is unknown, or has expired. `npx annex tokens new` makes a new one.'
    return holder ?? { refused: new AnnexError('unauthorized', text) }
  }

  async function findPersonOfSession(context: Context, asAccount: boolean): Promise<Holder | undefined> {
    let key: string | undefined
    try {
      const signedIn = await readSession(context)
      if (signedIn === undefined) return undefined
      key = signedIn.session.id
      return { key, caller: asAccount ? toAccountCaller(signedIn) : await toCaller(db, signedIn, context) }
    } catch (error) {
      if (!isAnnexError(error)) throw error
      return { ...(key !== undefined && { key }), refused: error }
    }
  }

  async function findPerson(token: string): Promise<Holder | undefined> {
    const known = await people.get(token)
    if (known === undefined || isExpired(known)) return undefined
    noteUse?.({ id: known.caller.tokenId, lastUsedAt: known.lastUsedAt })
    return { key: hashOf(token), caller: known.caller }
  }

  async function findScript(token: string): Promise<Holder | undefined> {
    const caller = await scripts.get(token)
    if (caller === undefined) return undefined
    // A script gets a new token every few minutes.
    const key = caller.kind === 'installation' ? caller.installationId : caller.integration
    try {
      const scopes = await declared.get(caller)
      if (scopes === undefined) return undefined
      return { key, caller: { ...caller, scopes: caller.scopes.filter((scope) => scopes.includes(scope)) } }
    } catch (error) {
      if (!isAnnexError(error)) throw error
      return { key, caller, refused: error }
    }
  }
}

/** `key`: what its requests count for. A stopped script is refused, and its requests still count for its limit. */
type Holder =
  | { key: string; caller: Caller | AccountCaller; refused?: undefined }
  | { key?: string; caller?: Caller; refused: AnnexError }

/** Where the changes of a request come from, for the audit. */
export const originOf = ({
  caller,
  context,
}: {
  caller: Caller | AccountCaller
  context: Context
}): Origin => ({
  actor: actorOf(caller),
  requestId: context.state.requestId,
  address: context.ip || null,
})

/** @throws AnnexError `forbidden` */
export function assertOperator(caller: Caller): void {
  if (caller.kind !== 'operator') throw new AnnexError('forbidden', 'Only an operator may do this.')
}

export type Person = Extract<Caller, { kind: 'operator' | 'organization' }>

/** False for a script. */
export const isPerson = (caller: Caller | AccountCaller): caller is Person =>
  caller.kind === 'operator' || caller.kind === 'organization'

/** Limits records to those that a person may see. An operator sees all, or those of one organization. */
export function ownOf(caller: Person): { organizationId?: string } {
  const organizationId = caller.kind === 'operator' ? caller.onlyIn : caller.organizationId
  return organizationId === undefined ? {} : { organizationId }
}

/** True when a person may see a record of an organization. `null`: it belongs to none. */
export function mayOpen(caller: Person, ownerId: string | null | undefined): boolean {
  const { organizationId = ownerId } = ownOf(caller)
  return organizationId === ownerId
}

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
  throw new AnnexError('not_found', `There is no organization ${id} that you may see.`)
}

/** What a caller is known by, for texts. */
export const nounOf = (caller: Caller | AccountCaller): 'token' | 'session' =>
  'sessionId' in caller ? 'session' : 'token'
