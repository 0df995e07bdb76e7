import { randomBytes } from 'node:crypto'
import { toLowerName } from '../any-case.ts'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { inPage, type PageAt } from '../page.ts'
import { deleteExternalIds, recordsNamed } from './external-ids.ts'
import type { PlaceKind } from './installations.ts'

/** Who may read a site or space. Annex stores it for scripts and for the pages that show content. */
export type Visibility = 'private' | 'unlisted' | 'share-link' | 'visitor-auth' | 'public'

export type Space = {
  id: string
  organizationId: string
  slug: string
  title: string
  visibility: Visibility
  /** Where visitors read it, if it is published. */
  url: string | null
  /** Null: pages come through the API. */
  folder: string | null
  revisionId: string | null
  /** What is wrong in the folder: a list of `FileProblem` as JSON text. */
  problems: string
  /** Bytes of the pages of all kept revisions. */
  contentBytes: number
  createdAt: number
}

/** A file that is left out, a field that is ignored, or a line of SUMMARY.md, with the reason and the next step. */
export type FileProblem = { file: string; line?: number; message: string }

export async function insertSpace(
  db: Db,
  given: {
    organizationId: string
    slug: string
    title: string
    folder: string | null
    visibility?: Visibility
    url?: string
  },
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

/** The oldest first. */
export async function listSpaces(db: Db, organizationId: string, at: PageAt): Promise<Space[]> {
  return inPage(db('spaces').where({ organizationId }), 'id', at)
}

export type FolderSpace = Space & { folder: string }

export async function listFolderSpaces(db: Db): Promise<FolderSpace[]> {
  return db('spaces').whereNotNull('folder').orderBy('id')
}

/** Spaces of the folder `from` follow the folder `to` from now on. */
export async function moveFolder(db: Db, from: string, to: string): Promise<void> {
  await db('spaces').where({ folder: from }).update({ folder: to })
}

/** The next space after an id, in all organizations. */
export async function findSpaceAfter(db: Db, id: string): Promise<string | undefined> {
  return (await db('spaces').where('id', '>', id).orderBy('id').first('id'))?.id
}

export async function updateProblems(db: Db, id: string, problems: string): Promise<void> {
  await db('spaces').where({ id }).update({ problems })
}

export type Site = {
  id: string
  organizationId: string
  slug: string
  title: string
  visibility: Visibility
  /** Where visitors read it. Null: at the first of its origins, if it has one. */
  url: string | null
  /** What its pages send with a view. */
  publicKey: string
  /** Origins of its pages: a list as JSON text. */
  origins: string
  /** Names of the cookies that its pages send with a view: a list as JSON text. */
  viewCookies: string
  /** The schema of visitors' claims as JSON text. */
  adaptiveSchema: string | null
  createdAt: number
}

export async function insertSite(
  db: Db,
  given: { organizationId: string; slug: string; title: string; visibility?: Visibility; url?: string },
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
  change: Partial<Pick<Site, 'publicKey' | 'origins' | 'viewCookies' | 'adaptiveSchema'>>,
): Promise<void> {
  await db('sites').where({ id }).update(change)
}

export async function findSite(db: Db, id: string): Promise<Site | undefined> {
  return db('sites').where({ id }).first()
}

/** A site without its schema, which may be large. SQLite keeps booleans as numbers. */
export type SiteHead = Omit<Site, 'adaptiveSchema' | 'publicKey' | 'viewCookies'> & {
  isAdaptive: boolean | number
}

/** The oldest first. */
export async function listSites(db: Db, organizationId: string, at: PageAt): Promise<SiteHead[]> {
  const query = db('sites')
    .where({ organizationId })
    .select('id', 'organizationId', 'slug', 'title', 'visibility', 'url', 'origins', 'createdAt')
    .select(db.raw('adaptive_schema is not null as is_adaptive'))
  return inPage(query, 'id', at)
}

/** All sites or spaces of an organization, the oldest first. */
export async function listPlaceIds(db: Db, kind: PlaceKind, organizationId: string): Promise<string[]> {
  return db(`${kind}s`).where({ organizationId }).orderBy('id').pluck('id')
}

/** The titles of sites and spaces that are there, by id. */
export async function readPlaceTitles(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const lists = await Promise.all(
    (['site', 'space'] as const).map((kind) => db(`${kind}s`).whereIn('id', ids).select('id', 'title')),
  )
  return new Map(lists.flat().map(({ id, title }) => [id, title]))
}

export type Places = { site: Site; space: Space }

/** Every id of Annex has an underscore and no slug has one, so a name is never both. */
const columnOf = (name: string): 'id' | 'slug' => (name.includes('_') ? 'id' : 'slug')

/** True for a text in the form of an id of Annex. */
export const isOwnId = (kind: PlaceKind, name: string): boolean =>
  name.startsWith(`${kind}_`) && /_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)

/** A site or space of an organization, by its id or slug, else by an external id. */
export async function findPlace<Kind extends PlaceKind>(
  db: Db,
  kind: Kind,
  organizationId: string,
  name: string,
): Promise<Places[Kind] | undefined> {
  const [found] = await findPlacesOf(db, kind, name, { organizationId })
  return found
}

/** Limits a search to an organization, or to the places of an integration or installation. */
export type PlaceOwner = { organizationId?: string; integration?: string; installationId?: string }

/**
 * Finds sites or spaces by an id or slug, else by an external id: one platform's id must not hide a record of Annex. Else by a
 * slug in another letter case. At most two: the second shows that the name is ambiguous.
 */
export async function findPlacesOf<Kind extends PlaceKind>(
  db: Db,
  kind: Kind,
  name: string,
  { organizationId, integration, installationId }: PlaceOwner,
): Promise<Places[Kind][]> {
  const places = () => {
    const query = db(`${kind}s`).limit(2)
    if (organizationId !== undefined) query.where({ organizationId })
    if (integration !== undefined) {
      // For the places that were found: a list of all places of an integration may be long.
      const installed = db('levels')
        .join('installations', 'installations.id', 'levels.installationId')
        .where({ kind, integration })
        .where('placeId', db.ref(`${kind}s.id`))
        .select(db.raw('1'))
      if (installationId !== undefined) installed.where({ installationId })
      query.whereExists(installed)
    }
    return query
  }
  const found = await places().where({ [columnOf(name)]: name })
  if (found.length > 0 || isOwnId(kind, name)) return found
  const named = await places().whereIn('id', recordsNamed(db, kind, name))
  if (named.length > 0 || name === toLowerName(name)) return named
  return places().where({ slug: toLowerName(name) })
}

export type PlaceChange = { slug?: string; title?: string; visibility?: Visibility; url?: string | null }

/** Locks a site or space until the transaction ends, so that it is not deleted meanwhile. */
export async function lockPlace<Kind extends PlaceKind>(
  transaction: Db,
  kind: Kind,
  id: string,
): Promise<Places[Kind] | undefined> {
  return transaction(`${kind}s`).where({ id }).forUpdate().first()
}

/** @throws the database's error, `isDuplicate` when another site or space of the organization has the slug */
export async function updatePlace(
  transaction: Db,
  kind: PlaceKind,
  id: string,
  change: PlaceChange,
): Promise<void> {
  if (Object.keys(change).length > 0) await transaction(`${kind}s`).where({ id }).update(change)
}

/** Deletes a site or space with its external ids; a space with its pages and revisions. */
export async function deletePlaceRows(
  transaction: Db,
  kind: PlaceKind,
  id: string,
): Promise<{ revisions: number }> {
  if (kind === 'space') await transaction('pages').where({ spaceId: id }).delete()
  const revisions = kind === 'space' ? await transaction('revisions').where({ spaceId: id }).delete() : 0
  await deleteExternalIds(transaction, [id])
  await transaction(`${kind}s`).where({ id }).delete()
  return { revisions }
}
