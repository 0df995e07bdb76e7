import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { hasOperatorAccount } from '../db/queries/accounts.ts'
import type { Membership, Role } from '../db/queries/members.ts'
import { deleteTokens, findToken, insertToken, type TokenRow, takeToken } from '../db/queries/tokens.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { lowerRole, type OrganizationRole } from './roles.ts'

/** The token or the session of a person. `memberId` is null for a token, or an operator, that belongs to no member. */
type OfPerson = { memberId: string | null } & ({ tokenId: string } | OfSession)

/** The person of a session. `confirmedAt`: when that person last showed a password or passkey, in Unix ms. */
export type OfSession = { accountId: string; sessionId: string; confirmedAt: number }

/** The person of a session, for operations of the own account. */
export type AccountCaller = {
  kind: 'account'
  isOperator: boolean
  memberships: readonly Membership[]
} & OfSession

/** The holder of a token, or what the person of a session is in an organization. */
export type Caller =
  /** May do everything. `onlyIn`: the organization that the request names by its header. Records of others are not found. */
  | ({ kind: 'operator'; onlyIn?: string } & OfPerson)
  /** May use what belongs to the organization, as far as the role allows. */
  | ({ kind: 'organization'; organizationId: string; role: OrganizationRole } & OfPerson)
  /** The script of an integration, for all installations or for one. */
  | ({ kind: 'integration'; integration: string } & OfScript)
  | ({ kind: 'installation'; integration: string; installationId: string } & OfScript)

/** A token of a script. `holder` is missing in tokens of an Annex before 0.2: an hour later there is none. */
type OfScript = { scopes: readonly string[]; holder?: TokenHolder }

/** The script that has got a token: its version, and the installation that it runs for, if it runs for one. */
export type TokenHolder = {
  versionId: string
  installationId?: string
  /** The dispatch handles the last event of an uninstall: the script may be paused. */
  isLast?: true
}

const setupLifetimeMs = 24 * 60 * 60 * 1000

export type NewToken = {
  role: Role
  label: string
  /** Without one, an operator's token. */
  organizationId?: string
  memberId?: string
  /** Unix ms. Default: the token does not expire. */
  expiresAt?: number
  kind?: 'api' | 'cli'
}

/** Creates a token. The database stores its hash only, so the token is shown once. */
export async function issueToken(db: Db, given: NewToken): Promise<{ token: string; row: TokenRow }> {
  const { role, label, organizationId = null, memberId = null, expiresAt = null, kind = 'api' } = given
  const token = `annex_${organizationId === null ? 'op' : 'org'}_${randomBytes(24).toString('base64url')}`
  const row = await insertToken(db, {
    kind,
    role,
    label,
    organizationId,
    memberId,
    hash: hashOf(token),
    expiresAt,
  })
  return { token, row }
}

/**
 * Creates the one-time setup token, unless an operator has an account. Each start replaces it: an old one in a terminal's
 * scrollback is useless.
 */
export async function issueSetupToken(db: Db): Promise<string | undefined> {
  await deleteTokens(db, 'setup')
  if (await hasOperatorAccount(db)) return undefined
  const token = `annex_setup_${randomBytes(24).toString('base64url')}`
  await insertToken(db, {
    kind: 'setup',
    role: null,
    label: 'first start',
    organizationId: null,
    memberId: null,
    hash: hashOf(token),
    expiresAt: Date.now() + setupLifetimeMs,
  })
  return token
}

/**
 * Exchanges the setup token for an operator's token.
 *
 * @param record stores more in the same transaction
 * @throws AnnexError `unauthorized` for a used or expired one
 */
export function redeemSetupToken(
  db: Db,
  token: string,
  record: (transaction: Db, ids: { setup: string; made: string }) => Promise<void>,
): Promise<string> {
  return transact(db, (transaction) => redeem(transaction, token, record))
}

async function redeem(
  db: Db,
  token: string,
  record: (transaction: Db, ids: { setup: string; made: string }) => Promise<void>,
): Promise<string> {
  const { id: setup } = await takeSetupToken(db, token)
  const made = await issueToken(db, { role: 'operator', label: 'setup' })
  await record(db, { setup, made: made.row.id })
  return made.token
}

/** @throws AnnexError `unauthorized` for a used or expired one */
export async function findSetupToken(db: Db, token: string): Promise<{ id: string; expiresAt: number }> {
  const { kind, id, expiresAt } = (await findToken(db, hashOf(token))) ?? {}
  if (kind === 'setup' && id !== undefined && expiresAt != null && expiresAt > Date.now()) {
    return { id, expiresAt }
  }
  throw noSetupToken()
}

/** Uses up the setup token. @throws AnnexError `unauthorized` for a used or expired one */
export async function takeSetupToken(transaction: Db, token: string): Promise<{ id: string }> {
  const found = await findSetupToken(transaction, token)
  if (!(await takeToken(transaction, hashOf(token), 'setup'))) throw noSetupToken()
  // Hosts that start at the same time may each have created one.
  await deleteTokens(transaction, 'setup')
  return found
}

const noSetupToken = (): AnnexError =>
  new AnnexError(
    'unauthorized',
    'This setup token is unknown, was used before, or has expired. A restart prints a new one while there is no operator.',
  )

/** A token that works, and its holder. */
export type Known = {
  caller: Extract<Caller, { kind: 'operator' | 'organization' }> & { tokenId: string }
  expiresAt: number | null
  lastUsedAt: number | null
}

/** @returns undefined for a token that is unknown or has expired */
export async function findCaller(db: Db, token: string): Promise<Known | undefined> {
  const row = await findToken(db, hashOf(token))
  if (row === undefined || row.role === null || isExpired(row)) return undefined
  const { id: tokenId, memberId, organizationId, expiresAt, lastUsedAt } = row
  // A member with a lower role lowers the tokens that the member has.
  const role = lowerRole(row.role, row.memberRole ?? row.role)
  if (role === 'operator') return { caller: { kind: role, tokenId, memberId }, expiresAt, lastUsedAt }
  if (organizationId === null) return undefined
  const caller = { kind: 'organization', organizationId, role, tokenId, memberId } as const
  return { caller, expiresAt, lastUsedAt }
}

export const isExpired = ({ expiresAt }: Pick<TokenRow, 'expiresAt'>): boolean =>
  expiresAt !== null && expiresAt <= Date.now()

/** 256 bits as a text of 43 characters: the secrets of a flow, which its browser or the other side gives back. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

/** Tokens are long and random: a plain hash protects them, and an index finds it. */
export const hashOf = (token: string): string => hash('sha256', token)
