import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { countTokens, deleteTokens, findToken, insertToken, takeToken } from '../db/queries/tokens.ts'
import { AnnexError } from '../errors.ts'

/** The holder of a token. */
export type Caller =
  /** May do everything. */
  | { kind: 'operator'; tokenId: string }
  /** May use what belongs to the organization. */
  | { kind: 'organization'; organizationId: string; tokenId: string }
  /** The script of an integration, for all installations or for one. */
  | { kind: 'integration'; integration: string; scopes: readonly string[] }
  | { kind: 'installation'; integration: string; installationId: string; scopes: readonly string[] }

const setupLifetimeMs = 24 * 60 * 60 * 1000

/** Creates a token. The database stores its hash only, so the token is shown once. */
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
 * Creates the one-time setup token, unless an operator exists. Each start replaces it: an old one in a terminal's
 * scrollback is useless.
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

/** Exchanges the setup token for an operator's token. @throws AnnexError `unauthorized` for a used or expired one */
export async function redeemSetupToken(db: Db, token: string): Promise<string> {
  const row = await findToken(db, hashOf(token))
  const isValid = row?.kind === 'setup' && (row.expiresAt ?? 0) > Date.now()
  if (!isValid || !(await takeToken(db, hashOf(token), 'setup'))) {
    throw new AnnexError(
      'unauthorized',
      'This setup token is unknown, was used before, or has expired. A restart prints a new one while there is no operator.',
    )
  }
  // Hosts that start at the same time may each have created one.
  await deleteTokens(db, 'setup')
  return issueToken(db, { kind: 'operator', label: 'setup' })
}

/** @returns undefined for an unknown token */
export async function findCaller(db: Db, token: string): Promise<Caller | undefined> {
  const row = await findToken(db, hashOf(token))
  if (row === undefined) return undefined
  const { kind, id: tokenId, organizationId } = row
  if (kind === 'operator' || kind === 'cli') return { kind: 'operator', tokenId }
  return kind === 'organization' && organizationId !== null ? { kind, organizationId, tokenId } : undefined
}

/** Tokens are long and random: a plain hash protects them, and an index finds it. */
export const hashOf = (token: string): string => hash('sha256', token)
