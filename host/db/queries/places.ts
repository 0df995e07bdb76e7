import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import type { TargetKind } from './installations.ts'

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

/** Locks the space: no other host makes a revision of it until the transaction ends. */
export async function lockSpace(transaction: Db, id: string): Promise<Space | undefined> {
  return transaction('spaces').where({ id }).forUpdate().first()
}

export async function listSpaces(db: Db, organizationId?: string): Promise<Space[]> {
  const query = db('spaces').orderBy('createdAt')
  return organizationId === undefined ? query : query.where({ organizationId })
}

/** Stores a revision and makes it current. The caller's transaction does both or neither. */
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

export type Site = { id: string; organizationId: string; slug: string; title: string; createdAt: number }

export async function insertSite(
  db: Db,
  given: { organizationId: string; slug: string; title: string },
): Promise<Site | undefined> {
  const row = { id: createId('site'), ...given, createdAt: Date.now() }
  const [inserted] = await db('sites')
    .insert(row)
    .onConflict(['organizationId', 'slug'])
    .ignore()
    .returning('*')
  return inserted
}

export async function findSite(db: Db, id: string): Promise<Site | undefined> {
  return db('sites').where({ id }).first()
}

export async function listSites(db: Db, organizationId?: string): Promise<Site[]> {
  const query = db('sites').orderBy('createdAt')
  return organizationId === undefined ? query : query.where({ organizationId })
}

export type Places = { site: Site; space: Space }

/** Every id has an underscore and no slug has one, so a name is never both. */
const columnOf = (name: string): 'id' | 'slug' => (name.includes('_') ? 'id' : 'slug')

/** A site or space of an organization, by its id or slug. */
export async function findPlace<Kind extends TargetKind>(
  db: Db,
  kind: Kind,
  organizationId: string,
  name: string,
): Promise<Places[Kind] | undefined> {
  return db(`${kind}s`)
    .where({ organizationId, [columnOf(name)]: name })
    .first()
}

/** Limits a search to an organization, or to the places of an integration or installation. */
export type PlaceOwner = { organizationId?: string; integration?: string; installationId?: string }

/** Finds sites or spaces by an id or slug. At most two: the second shows that the slug is ambiguous. */
export async function findPlacesOf<Kind extends TargetKind>(
  db: Db,
  kind: Kind,
  name: string,
  { organizationId, integration, installationId }: PlaceOwner,
): Promise<Places[Kind][]> {
  const query = db(`${kind}s`)
    .where({ [columnOf(name)]: name })
    .limit(2)
  if (organizationId !== undefined) query.where({ organizationId })
  if (integration !== undefined) {
    const installed = db('installationTargets')
      .join('installations', 'installations.id', 'installationTargets.installationId')
      .where({ kind, integration })
      .select('targetId')
    if (installationId !== undefined) installed.where({ installationId })
    query.whereIn('id', installed)
  }
  return query
}
