import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

export type Author = { type: 'user' | 'integration' | 'host'; id: string }

/** One state of a space's pages. Numbers of a space count from 1 without gaps. */
export type Revision = { id: string; spaceId: string; number: number; author: Author; createdAt: number }

type Row = Omit<Revision, 'author'> & { authorType: Author['type']; authorId: string }

export const createRevision = (given: Pick<Revision, 'spaceId' | 'number' | 'author'>): Revision => ({
  id: createId('rev'),
  ...given,
  createdAt: Date.now(),
})

/** Stores a revision and makes it current. Its pages are stored. */
export async function insertRevision(db: Db, { author, ...revision }: Revision): Promise<void> {
  await db('revisions').insert({ ...revision, authorType: author.type, authorId: author.id })
  await db('spaces')
    .where({ id: revision.spaceId })
    .update({ revisionId: revision.id, draftedBy: null, draftedUntil: null })
}

/** A revision of a space by its id. */
export async function findRevision(db: Db, spaceId: string, id: string): Promise<Revision | undefined> {
  const row = await db('revisions').where({ spaceId, id }).first()
  return row && toRevision(row)
}

/** @returns undefined when it is the first one, or the one before is no longer kept */
export async function findRevisionBefore(
  db: Db,
  { spaceId, number }: Pick<Revision, 'spaceId' | 'number'>,
): Promise<Revision | undefined> {
  const row = await db('revisions')
    .where({ spaceId, number: number - 1 })
    .first()
  return row && toRevision(row)
}

export async function findCurrentRevision(db: Db, spaceId: string): Promise<Revision | undefined> {
  const row = await db('revisions')
    .join('spaces', 'spaces.revisionId', 'revisions.id')
    .where({ 'spaces.id': spaceId })
    .first('revisions.*')
  return row && toRevision(row)
}

/** The kept revisions of a space, the newest first. */
export async function listRevisions(
  db: Db,
  spaceId: string,
  page: { before?: number; limit: number },
): Promise<Revision[]> {
  const query = db('revisions').where({ spaceId }).orderBy('number', 'desc').limit(page.limit)
  if (page.before !== undefined) query.where('number', '<', page.before)
  return (await query).map(toRevision)
}

const toRevision = ({ authorType, authorId, ...row }: Row): Revision => ({
  id: row.id,
  spaceId: row.spaceId,
  number: row.number,
  author: { type: authorType, id: authorId },
  createdAt: row.createdAt,
})

type Draft = { spaceId: string; hostId: string; now: number; until: number }

/** A host begins to write the next revision of a space. @returns false while another host writes one */
export async function beginDraft(transaction: Db, { spaceId, hostId, now, until }: Draft): Promise<boolean> {
  const changed = await transaction('spaces')
    .where({ id: spaceId })
    .where((free) =>
      free.whereNull('draftedBy').orWhere({ draftedBy: hostId }).orWhere('draftedUntil', '<', now),
    )
    .update({ draftedBy: hostId, draftedUntil: until })
  return changed > 0
}

/** Locks the draft until the transaction ends. @returns false when another host has taken it over */
export async function keepDraft(
  transaction: Db,
  { spaceId, hostId, until }: Omit<Draft, 'now'>,
): Promise<boolean> {
  const changed = await transaction('spaces')
    .where({ id: spaceId, draftedBy: hostId })
    .update({ draftedUntil: until })
  return changed > 0
}

export async function endDraft(
  db: Db,
  { spaceId, hostId }: Pick<Draft, 'spaceId' | 'hostId'>,
): Promise<void> {
  await db('spaces').where({ id: spaceId, draftedBy: hostId }).update({ draftedBy: null, draftedUntil: null })
}

/**
 * Deletes the revisions of a space that were replaced before a time, in Unix ms.
 *
 * @returns the number of the oldest kept revision
 */
export async function pruneRevisions(db: Db, spaceId: string, before: number): Promise<number> {
  const oldest = await db('revisions')
    .where({ spaceId })
    .where('createdAt', '<', before)
    .max({ number: 'number' })
    .first()
  const number = Number(oldest?.number ?? 0)
  await db('revisions').where({ spaceId }).where('number', '<', number).delete()
  return number
}
