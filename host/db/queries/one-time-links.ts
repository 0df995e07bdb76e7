import type { Db } from '../db.ts'

/** A link that works once: `memberId` of an invitation, `accountId` of a reset. */
export type OneTimeLink = { hash: string; expiresAt: number } & (
  | { memberId: string; accountId: null }
  | { memberId: null; accountId: string }
)

/** Replaces the link that the member or account had. */
export async function putLink(transaction: Db, link: OneTimeLink): Promise<void> {
  const owner = link.memberId === null ? 'accountId' : 'memberId'
  await transaction('oneTimeLinks').insert(link).onConflict(owner).merge(['hash', 'expiresAt'])
}

export async function findLink(db: Db, hash: string): Promise<OneTimeLink | undefined> {
  return db('oneTimeLinks').where({ hash }).first()
}

/** Uses up a link. Of two concurrent calls, one returns true. */
export async function takeLink(transaction: Db, hash: string): Promise<boolean> {
  return (await transaction('oneTimeLinks').where({ hash }).delete()) === 1
}

/** Ends the link that a member or an account has. */
export async function deleteLinkOf(
  transaction: Db,
  owner: { memberId: string } | { accountId: string },
): Promise<void> {
  await transaction('oneTimeLinks').where(owner).delete()
}
