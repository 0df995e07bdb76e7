import type { Db } from '../../db.ts'
import { createId } from '../../ids.ts'

/** A page of a revision. `path` is that of the Markdown file without its ending. */
export type PageRecord = { id: string; title: string; path: string; markdown: string }

export type Space = {
  id: string
  organizationId: string
  slug: string
  title: string
  folder: string
  revisionId: string | null
  createdAt: number
}

export type Revision = { id: string; spaceId: string; digest: string; pages: PageRecord[]; createdAt: number }

export async function insertSpace(
  db: Db,
  given: { organizationId: string; slug: string; title: string; folder: string },
): Promise<Space | undefined> {
  const row = { id: createId('space'), ...given, revisionId: null, createdAt: Date.now() }
  const [inserted] = await db('spaces')
    .insert(row)
    .onConflict(['organizationId', 'slug'])
    .ignore()
    .returning('*')
  return inserted
}

export async function findSpace(db: Db, id: string): Promise<Space | undefined> {
  return db('spaces').where({ id }).first()
}

/** The space, for the transaction alone: no other host makes a revision of it meanwhile. */
export async function lockSpace(transaction: Db, id: string): Promise<Space | undefined> {
  return transaction('spaces').where({ id }).forUpdate().first()
}

export async function listSpaces(db: Db, organizationId?: string): Promise<Space[]> {
  const query = db('spaces').orderBy('createdAt')
  return organizationId === undefined ? query : query.where({ organizationId })
}

/** Makes the revision the space's current one. Both, or neither. */
export async function insertRevision(
  db: Db,
  given: { spaceId: string; digest: string; pages: PageRecord[] },
): Promise<Revision> {
  const revision = { id: createId('rev'), ...given, createdAt: Date.now() }
  await db('revisions').insert({ ...revision, pages: JSON.stringify(given.pages) })
  await db('spaces').where({ id: given.spaceId }).update({ revisionId: revision.id })
  return revision
}

export async function findRevision(db: Db, id: string): Promise<Revision | undefined> {
  const row = await db('revisions').where({ id }).first()
  return row && { ...row, pages: JSON.parse(row.pages) }
}
