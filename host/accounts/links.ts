import { randomBytes } from 'node:crypto'
import { findSetupToken, hashOf } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { isDuplicate } from '../db/errors.ts'
import { type Account, findAccount } from '../db/queries/accounts.ts'
import { bindMember, findMemberById, type Member } from '../db/queries/members.ts'
import { findLink, putLink, takeLink } from '../db/queries/one-time-links.ts'
import { AnnexError } from '../errors.ts'

const hourMs = 60 * 60 * 1000
const lifetimesMs = { invitation: 7 * 24 * hourMs, reset: hourMs }

const prefixes = { setup: 'annex_setup_', invitation: 'annex_invite_', reset: 'annex_reset_' } as const
type LinkKind = keyof typeof prefixes

/** What a link is for. Its token stands after the `#`: no server and no proxy on the way sees it. */
export type OpenedLink = { expiresAt: number } & (
  | { kind: 'setup' }
  | { kind: 'invitation'; member: Member }
  | { kind: 'reset'; account: Account }
)

/** Makes a link, in place of the one before it. The database has its hash alone. */
export async function createLink(
  transaction: Db,
  owner: { invitation: Member } | { reset: Account },
): Promise<{ link: string; expiresAt: number }> {
  const kind = 'invitation' in owner ? 'invitation' : 'reset'
  const link = prefixes[kind] + randomBytes(24).toString('base64url')
  const expiresAt = Date.now() + lifetimesMs[kind]
  const shared = { hash: hashOf(link), expiresAt }
  await putLink(
    transaction,
    'invitation' in owner
      ? { ...shared, memberId: owner.invitation.id, accountId: null }
      : { ...shared, memberId: null, accountId: owner.reset.id },
  )
  return { link, expiresAt }
}

/** @throws AnnexError `unauthorized` for a link that is unknown, was used or has expired */
export async function openLink(db: Db, link: string): Promise<OpenedLink> {
  if (link.startsWith(prefixes.setup)) {
    return { kind: 'setup', expiresAt: (await findSetupToken(db, link)).expiresAt }
  }
  const row = await findLink(db, hashOf(link))
  if (row === undefined || row.expiresAt <= Date.now()) throw refusedLink(link)
  const { expiresAt, memberId, accountId } = row
  const member = memberId === null ? undefined : await findMemberById(db, memberId)
  if (member !== undefined) return { kind: 'invitation', expiresAt, member }
  const account = accountId === null ? undefined : await findAccount(db, accountId)
  if (account !== undefined) return { kind: 'reset', expiresAt, account }
  throw refusedLink(link)
}

/** Opens a link of one kind. @throws AnnexError `unauthorized` also for a link of another kind */
export async function openLinkOf<Kind extends LinkKind>(
  db: Db,
  link: string,
  ...kinds: Kind[]
): Promise<Extract<OpenedLink, { kind: Kind }>> {
  const opened = await openLink(db, link)
  if ((kinds as LinkKind[]).includes(opened.kind)) return opened as Extract<OpenedLink, { kind: Kind }>
  throw new AnnexError(
    'unauthorized',
    `This is a link for a ${opened.kind}, which is done at another address.`,
  )
}

/** Uses up an invitation or a reset. @throws AnnexError `unauthorized` when another request has just done so */
export async function useLink(transaction: Db, link: string): Promise<void> {
  if (!(await takeLink(transaction, hashOf(link)))) throw refusedLink(link)
}

/**
 * Binds an account to the member of an invitation that was used up. The link alone does so: an email proves nothing.
 *
 * @throws AnnexError `conflict`
 */
export async function joinAs(transaction: Db, { id }: Member, account: Account): Promise<void> {
  const bound = await bindMember(transaction, id, account.id).catch((error) => {
    if (!isDuplicate(error)) throw error
    throw new AnnexError('conflict', 'You are a member of this organization already.')
  })
  if (!bound) throw new AnnexError('conflict', `The member ${id} has an account, or has just been removed.`)
}

function refusedLink(link: string): AnnexError {
  const next = link.startsWith(prefixes.invitation)
    ? 'Ask an admin of the organization for a new one.'
    : link.startsWith(prefixes.reset)
      ? 'Ask an operator for a new one.'
      : 'Copy the whole address that you have got.'
  return new AnnexError('unauthorized', `This link is unknown, was used before, or has expired. ${next}`)
}
