import { nowOf } from '../database-clock.ts'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import type { Actor } from './audit.ts'

/** A connection of a level with a provider, from its start to its callback. */
export type OAuthFlow = {
  id: string
  integration: string
  installationId: string
  /** The path of the level's endpoint. */
  endpoint: string
  /** Below the endpoint: the flow begins there. */
  path: string
  linkHash: string | null
  browserHash: string | null
  stateHash: string | null
  /** The `state` of the script, sealed. */
  scriptState: string | null
  /** The path of the redirect address, if it is an address of this Annex. */
  callback: string | null
  expiresAt: number
  usedAt: number | null
  /** The holder of the token that made the link, and their name then. Null without a link, and before version 0.2. */
  makerKind: Actor['kind'] | null
  makerId: string | null
  maker: string | null
}

type NewFlow = Pick<OAuthFlow, 'integration' | 'installationId' | 'endpoint' | 'path' | 'expiresAt'> &
  (({ linkHash: string } & Pick<OAuthFlow, 'makerKind' | 'makerId' | 'maker'>) | { browserHash: string })

/** From its start to its callback. */
export const flowLifetimeMs = 10 * 60_000

/** Stores a flow, and removes the links that have expired unopened. */
export async function insertFlow(db: Db, given: NewFlow): Promise<OAuthFlow> {
  await db('oauthFlows').where('expiresAt', '<', nowOf(db)).whereNull('callback').delete()
  const [inserted] = await db('oauthFlows')
    .insert({ id: createId('flow'), ...given })
    .returning('*')
  return inserted
}

/** @returns undefined for a link that is unknown, opened or expired */
export async function findLink(db: Db, linkHash: string): Promise<OAuthFlow | undefined> {
  return db('oauthFlows').where({ linkHash, browserHash: null }).where('expiresAt', '>', nowOf(db)).first()
}

/** The flow of a level that ended last in a callback, after `since`. */
export async function findLastUsed(db: Db, endpoint: string, since: number): Promise<OAuthFlow | undefined> {
  return db('oauthFlows').where({ endpoint }).where('usedAt', '>', since).orderBy('usedAt', 'desc').first()
}

/** Binds a flow to the browser that opens its link. @returns undefined for a link that is unknown, opened or expired */
export async function openFlow(
  db: Db,
  linkHash: string,
  browserHash: string,
): Promise<OAuthFlow | undefined> {
  const [opened] = await db('oauthFlows')
    .where({ linkHash, browserHash: null })
    .where('expiresAt', '>', nowOf(db))
    .update({ browserHash })
    .returning('*')
  return opened
}

/** The flows of a level among `ids` that have no callback yet, the newest first. */
export async function findRunningFlows(
  db: Db,
  endpoint: string,
  ids: readonly string[],
): Promise<OAuthFlow[]> {
  return db('oauthFlows')
    .where({ endpoint, usedAt: null })
    .where('expiresAt', '>', nowOf(db))
    .whereIn('id', ids)
    .orderBy('id', 'desc')
}

/** Stores what the callback of a flow is checked against. An older state of the flow is void then. */
export async function startFlow(
  db: Db,
  { id, endpoint, path }: OAuthFlow,
  given: Pick<OAuthFlow, 'stateHash' | 'scriptState' | 'callback'>,
): Promise<void> {
  // The last flow of each path stays: `isCallback` knows the redirect address by it.
  await db('oauthFlows').where({ endpoint, path }).where('expiresAt', '<', nowOf(db)).delete()
  await db('oauthFlows').where({ id }).update(given)
}

export async function findFlowByState(db: Db, stateHash: string): Promise<OAuthFlow | undefined> {
  return db('oauthFlows').where({ stateHash }).first()
}

/** Uses a flow up. Of two callbacks at once, one returns true. */
export async function useFlow(db: Db, id: string): Promise<boolean> {
  const now = nowOf(db)
  const used = await db('oauthFlows')
    .where({ id, usedAt: null })
    .where('expiresAt', '>', now)
    .update({ usedAt: now })
  return used === 1
}

/** True for the path of a redirect address that an earlier flow of the integration has named. */
export async function isCallback(db: Db, integration: string, callback: string): Promise<boolean> {
  return (await db('oauthFlows').where({ integration, callback }).first('id')) !== undefined
}
