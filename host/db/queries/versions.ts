import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { insertImages, type VersionImage } from './version-images.ts'

/** One immutable build of an integration. */
export type VersionRow = {
  id: string
  integration: string
  number: number
  digest: string
  manifest: string
  code: string
  sourceMap: string
  /** The event types that its script handles: a list as JSON text. Null: not known. */
  handledEvents: string | null
  createdAt: number
}

/** A version without its code and source map, which may be megabytes. Only the sandbox needs these. */
export type VersionHead = Omit<VersionRow, 'code' | 'sourceMap'>

export const headColumns = ['id', 'integration', 'number', 'digest', 'manifest', 'handledEvents', 'createdAt']

export async function findVersionHead(db: Db, id: string): Promise<VersionHead | undefined> {
  return db('versions').select(headColumns).where({ id }).first()
}

export async function hasVersion(db: Db, integration: string, digest: string): Promise<boolean> {
  return (await db('versions').where({ integration, digest }).first('id')) !== undefined
}

/** Finds the version with that digest. A new version is numbered and stored. */
export async function ensureVersion(
  db: Db,
  given: Omit<VersionRow, 'id' | 'number' | 'createdAt'>,
  images: readonly VersionImage[] = [],
): Promise<VersionRow> {
  const { integration, digest } = given
  const found = await db('versions').where({ integration, digest }).first()
  if (found !== undefined) return found
  const last = await db('versions').where({ integration }).max({ number: 'number' }).first()
  const row = { id: createId('ver'), ...given, number: Number(last?.number ?? 0) + 1, createdAt: Date.now() }
  await db('versions').insert(row)
  await insertImages(db, row.id, images)
  return row
}

/** Versions of an integration that can be deployed again. */
const keptVersions = 10

/**
 * Removes old versions of an integration. Kept are the newest, and all that are in use: deployed, loaded, pinned, run by an
 * installation, and `before`, the predecessor of the deployed version, as running dispatches may still read it.
 */
export async function removeOldVersions(db: Db, integration: string, before: string | null): Promise<void> {
  const newest: string[] = await db('versions')
    .where({ integration })
    .orderBy('number', 'desc')
    .limit(keptVersions)
    .pluck('id')
  const row = await db('integrations').where({ name: integration }).first()
  const used = [row?.versionId, row?.loadedVersionId, row?.pinnedVersionId, before].filter((id) => id != null)
  const held = db('installations')
    .where({ integration })
    .whereNotNull('heldVersionId')
    .whereNull('removedAt')
    .select('heldVersionId')
  await db('versions')
    .where({ integration })
    .whereNotIn('id', [...newest, ...used])
    .whereNotIn('id', held)
    .delete()
}

export async function listDeployedDigests(db: Db): Promise<{ name: string; digest: string }[]> {
  return db('integrations')
    .join('versions', 'versions.id', 'integrations.versionId')
    .orderBy('name')
    .select('name', 'digest')
}

/** The newest first. Few versions of an integration are kept. */
export async function listVersions(
  db: Db,
  integration: string,
  { before, limit }: { before?: number; limit?: number } = {},
): Promise<VersionHead[]> {
  const query = db('versions').select(headColumns).where({ integration }).orderBy('number', 'desc')
  if (before !== undefined) query.where('number', '<', before)
  return limit === undefined ? query : query.limit(limit)
}

/** @returns undefined for a version that `removeOldVersions` has removed */
export async function findVersionCode(db: Db, id: string): Promise<string | undefined> {
  const row = await db('versions').select('code').where({ id }).first()
  return row?.code
}

/** A version by its id, or by the digest of its bundle and manifest. */
export type VersionKey = { id: string | null } | { integration: string; digest: string }

export async function findSourceMap(db: Db, which: VersionKey): Promise<string | undefined> {
  const row = await db('versions').select('sourceMap').where(which).first()
  return row?.sourceMap
}
