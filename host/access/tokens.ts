import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { countTokens, deleteTokens, findToken, insertToken, takeToken } from '../db/queries/tokens.ts'
import { AnnexError } from '../errors/annex-error.ts'

/** Who calls the API. */
export type Caller =
  /** Whoever runs this Annex: everything. */
  | { kind: 'operator' }
  /** A member of an organization: what belongs to it. */
  | { kind: 'organization'; organizationId: string }
  /** A script, for an integration as a whole or for one installation of it. */
  | { kind: 'integration'; integration: string; scopes: readonly string[] }
  | { kind: 'installation'; integration: string; installationId: string; scopes: readonly string[] }

const setupLifetimeMs = 24 * 60 * 60 * 1000

/** A new token. It is shown once: the database keeps its hash. */
export async function issueToken(
  db: Db,
  given: { kind: 'operator' | 'cli' | 'organization'; organizationId?: string; label: string },
): Promise<string> {
  const token = `annex_${given.kind === 'organization' ? 'org' : 'op'}_${randomBytes(24).toString('base64url')}`
  const { kind, label, organizationId = null } = given
  await insertToken(db, { kind, label, organizationId, hash: hashOf(token), expiresAt: null })
  return token
}

/**
 * The one-time setup token, as long as there is no operator. Each start makes a new one and ends the one
 * before, so that an old terminal's scrollback is worth nothing.
 */
export async function issueSetupToken(db: Db): Promise<string | undefined> {
  await deleteTokens(db, 'setup')
  if ((await countTokens(db, 'operator')) > 0) return undefined
  const token = `annex_setup_${randomBytes(24).toString('base64url')}`
  await insertToken(db, {
    kind: 'setup',
    label: 'first start',
    organizationId: null,
    hash: hashOf(token),
    expiresAt: Date.now() + setupLifetimeMs,
  })
  return token
}

/** Turns the setup token into an operator's. @throws AnnexError `unauthorized` when it was used, or is old */
export async function redeemSetupToken(db: Db, token: string): Promise<string> {
  const row = await findToken(db, hashOf(token))
  const isValid = row?.kind === 'setup' && (row.expiresAt ?? 0) > Date.now()
  if (!isValid || !(await takeToken(db, hashOf(token), 'setup'))) {
    throw new AnnexError(
      'unauthorized',
      'This setup token is unknown, was used before, or has expired. A restart prints a new one while there is no operator.',
    )
  }
  // Hosts that started at once may each have made one.
  await deleteTokens(db, 'setup')
  return issueToken(db, { kind: 'operator', label: 'setup' })
}

/** @returns undefined when the token is none that this Annex gave out */
export async function findCaller(db: Db, token: string): Promise<Caller | undefined> {
  const row = await findToken(db, hashOf(token))
  if (row?.kind === 'operator' || row?.kind === 'cli') return { kind: 'operator' }
  if (row?.kind === 'organization' && row.organizationId !== null) {
    return { kind: 'organization', organizationId: row.organizationId }
  }
  return undefined
}

/** The tokens are random and long: a plain hash keeps them, and an index finds them in constant time. */
export const hashOf = (token: string): string => hash('sha256', token)
