import { randomBytes } from 'node:crypto'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import type { TargetKind } from './installations.ts'

export type Space = {
  id: string
  organizationId: string
  slug: string
  title: string
  /** Null: pages come through the API. */
  folder: string | null
  revisionId: string | null
  /** Files of the folder that are left out: a list of `FileProblem` as JSON text. */
  problems: string
  createdAt: number
}

/** A file that is left out, or a line of SUMMARY.md, with the reason and the next step. */
export type FileProblem = { file: string; line?: number; message: string }

export async function insertSpace(
  db: Db,
  given: { organizationId: string; slug: string; title: string; folder: string | null },
): Promise<Space | undefined> {
  const row = { id: createId('space'), ...given, createdAt: Date.now() }
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

export async function listSpaces(db: Db, organizationId?: string): Promise<Space[]> {
  const query = db('spaces').orderBy('createdAt')
  return organizationId === undefined ? query : query.where({ organizationId })
}

export async function updateProblems(db: Db, id: string, problems: string): Promise<void> {
  await db('spaces').where({ id }).update({ problems })
}

export type Site = {
  id: string
  organizationId: string
  slug: string
  title: string
  /** What its pages send with a view. */
  publicKey: string
  /** Origins of its pages: a list as JSON text. */
  origins: string
  /** The schema of visitors' claims as JSON text. */
  adaptiveSchema: string | null
  createdAt: number
}

export async function insertSite(
  db: Db,
  given: { organizationId: string; slug: string; title: string },
): Promise<Site | undefined> {
  const row = { id: createId('site'), ...given, publicKey: createPublicKey(), createdAt: Date.now() }
  const [inserted] = await db('sites')
    .insert(row)
    .onConflict(['organizationId', 'slug'])
    .ignore()
    .returning('*')
  return inserted
}

export const createPublicKey = (): string => `pk_${randomBytes(18).toString('base64url')}`

export async function updateSite(
  db: Db,
  id: string,
  change: Partial<Pick<Site, 'publicKey' | 'origins' | 'adaptiveSchema'>>,
): Promise<void> {
  await db('sites').where({ id }).update(change)
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
