import type { Knex } from 'knex'
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { toLowerName } from '../any-case.ts'
import type { Db } from '../db.ts'
import { toFoundFields, toSearchText } from '../found-fields.ts'
import { inPage, type PageAt } from '../page.ts'
import { holdsText } from '../sql.ts'
import { headColumns, type VersionHead } from './versions.ts'

export type IntegrationRow = {
  name: string
  organizationId: string
  /** Name of its plugin folder. */
  folder: string
  versionId: string | null
  /** Of its deployed version. */
  visibility: NonNullable<Manifest['visibility']>
  /** The version of its folder. A rollback deploys another one. */
  loadedVersionId: string | null
  /** A rollback: loading the folder deploys this version until it is unpinned. */
  pinnedVersionId: string | null
  /** The id of the host that loaded it last. */
  loadedBy: string | null
  signingSecret: string
  createdAt: number
  /** Start and reason of a suspension of the integration outside of installations. */
  suspendedAt: number | null
  suspendedReason: string | null
  /** The digest of the suspended version. */
  suspendedDigest: string | null
}

/** Creates or updates the integration of that name: the owner and folder of a new version replace the old ones. */
export async function ensureIntegration(
  db: Db,
  given: Pick<IntegrationRow, 'name' | 'organizationId' | 'folder' | 'loadedBy' | 'signingSecret'>,
): Promise<void> {
  const found = toFoundFields(given.name, undefined)
  const row = {
    ...given,
    ...found,
    lowerName: toLowerName(given.name),
    versionId: null,
    createdAt: Date.now(),
  }
  await db('integrations').insert(row).onConflict('name').merge(['organizationId', 'folder', 'loadedBy'])
}

/** @param name in any letter case. An old database may have two spellings: then the same one is found, else one that is deployed */
export async function findIntegration(db: Db, name: string): Promise<IntegrationRow | undefined> {
  const found: IntegrationRow[] = await db('integrations').where({ lowerName: toLowerName(name) })
  const [first] = found
  if (found.length < 2) return first
  return found.find((row) => row.name === name) ?? found.find(({ versionId }) => versionId !== null) ?? first
}

/** The spelling of a name that an integration has. A name of none stays as it is. */
export async function toStoredName(db: Db, name: string): Promise<string> {
  return (await findIntegration(db, name))?.name ?? name
}

/** Locks the integration: another version is deployed after the transaction. Lock it before its installations. */
export async function lockIntegration(transaction: Db, name: string): Promise<IntegrationRow | undefined> {
  // Not `forUpdate`: it would wait for each insert of a row that refers to the integration.
  return transaction('integrations').where({ name }).forNoKeyUpdate().first()
}

export async function listIntegrations(db: Db): Promise<IntegrationRow[]> {
  return db('integrations').orderBy('name')
}

/** An integration whose folder's version is deployed. */
export type LoadedVersionRow = Pick<IntegrationRow, 'name' | 'organizationId' | 'folder' | 'loadedBy'> & {
  number: number
  digest: string
}

/** Integrations that loading the same version again leaves as they are: not pinned, and with no suspension that may end. */
export async function listLoadedVersions(db: Db): Promise<LoadedVersionRow[]> {
  const suspended = db('installations').where({ hold: 'suspended' }).select('integration')
  return db('integrations')
    .join('versions', 'versions.id', 'integrations.versionId')
    .where('integrations.versionId', db.ref('integrations.loadedVersionId'))
    .whereNull('pinnedVersionId')
    .whereNull('suspendedAt')
    .whereNotIn('name', suspended)
    .select('name', 'organizationId', 'folder', 'loadedBy', 'number', 'digest')
}

/** The integrations of an organization, or the one of a script. */
export type OwnIntegrations = { organizationId: string } | { name: string }

/** An integration must match all given fields. */
export type IntegrationFilter = {
  /** A part of its name, title or description, in any case. */
  text?: string
  category?: string
  /** True: installed in the organization, whatever their visibility. False: not installed there. */
  installed?: { organizationId: string; is: boolean }
}

export type ListedIntegration = { row: IntegrationRow; version: VersionHead | undefined }

/** Integrations by name, with their deployed versions: a reader's own ones and public ones. Without `own`, all of them. */
export async function listVisibleIntegrations(
  db: Db,
  own: OwnIntegrations | undefined,
  filter: IntegrationFilter,
  at: PageAt,
): Promise<ListedIntegration[]> {
  const isWhole = own === undefined || filter.installed?.is === true
  const query = isWhole ? narrow(db, db('integrations'), filter) : visibleTo(db, own, filter, at)
  const rows: IntegrationRow[] = await inPage(query, 'name', at)
  const ids = rows.flatMap(({ versionId }) => versionId ?? [])
  const heads: VersionHead[] = await db('versions').select(headColumns).whereIn('id', ids)
  const byId = new Map(heads.map((head) => [head.id, head]))
  return rows.map((row) => ({ row, version: byId.get(row.versionId ?? '') }))
}

/** Two queries, each in the order of an index: one query for both would read all integrations. */
function visibleTo(db: Db, own: OwnIntegrations, filter: IntegrationFilter, at: PageAt): Knex.QueryBuilder {
  const some = (query: Knex.QueryBuilder, as: string) =>
    db.select('*').from(inPage(narrow(db, query, filter), 'name', at).as(as))
  const mine = some(db('integrations').where(own), 'mine')
  const open = some(db('integrations').where({ visibility: 'public' }).whereNot(own), 'open')
  return db.select('*').from(mine.unionAll(open).as('visible'))
}

function narrow(
  db: Db,
  query: Knex.QueryBuilder,
  { text, category, installed }: IntegrationFilter,
): Knex.QueryBuilder {
  // Not `like`: `%` and `_` of a reader are characters.
  if (text !== undefined) query.whereRaw(holdsText(db, 'search_text'), [toSearchText(text)])
  if (category !== undefined) query.whereRaw(holdsText(db, 'categories'), [JSON.stringify(category)])
  if (installed !== undefined) {
    const { organizationId, is } = installed
    const names = db('installations').where({ organizationId }).whereNull('removingAt').select('integration')
    query[is ? 'whereIn' : 'whereNotIn']('name', names)
  }
  return query
}

/** The names of an organization's integrations. */
export async function listIntegrationsOf(db: Db, organizationId: string): Promise<string[]> {
  return db('integrations').where({ organizationId }).orderBy('name').pluck('name')
}

/** Deploys a version. `pinned`: loading the folder does not replace it. */
export async function setIntegrationVersion(
  db: Db,
  name: string,
  { id: versionId, manifest }: VersionHead,
  { pinned }: { pinned: boolean },
): Promise<void> {
  const { visibility = 'private' }: Manifest = JSON.parse(manifest)
  const pinnedVersionId = pinned ? versionId : null
  await db('integrations')
    .where({ name })
    .update({ versionId, visibility, pinnedVersionId, ...toFoundFields(name, manifest) })
}

export async function setLoadedVersion(db: Db, name: string, loadedVersionId: string): Promise<void> {
  await db('integrations').where({ name }).update({ loadedVersionId })
}

/** Takes an integration out of service. Its versions, installations and pin stay. */
export async function retireIntegration(db: Db, name: string): Promise<void> {
  await db('integrations')
    .where({ name })
    .update({ versionId: null, visibility: 'private', ...toFoundFields(name, undefined) })
}

/**
 * Finds an integration with its deployed version, or with the version of that id.
 *
 * @returns undefined when the integration does not exist, or has no deployed version
 */
export async function findWithVersion(
  db: Db,
  name: string,
  versionId: string | null,
): Promise<{ integration: IntegrationRow; version: VersionHead } | undefined> {
  const row = await db('integrations')
    .join('versions', 'versions.id', db.raw('coalesce(?, ??)', [versionId, 'integrations.versionId']))
    .where({ name })
    .whereNotNull('versionId')
    .first('integrations.*', 'digest', 'manifest', 'number', 'handledEvents', {
      foundId: 'versions.id',
      foundAt: 'versions.createdAt',
    })
  if (row === undefined) return undefined
  const { foundId: id, foundAt: createdAt, digest, manifest, number, handledEvents, ...integration } = row
  const version = { id, integration: name, number, digest, manifest, handledEvents, createdAt }
  return { integration, version }
}

/** Removes an integration with its versions, its tasks, and the empty rows of its installations. Deliveries and logs stay. */
export async function deleteIntegration(transaction: Db, name: string): Promise<void> {
  await transaction('jobs').where({ lane: name }).delete()
  await transaction('installations').where({ integration: name }).delete()
  await transaction('versions').where({ integration: name }).delete()
  await transaction('integrations').where({ name }).delete()
}
