import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

export type IntegrationRow = {
  name: string
  organizationId: string
  /** Name of its plugin folder. */
  folder: string
  versionId: string | null
  /** The place (`placeOf`) of the host that has loaded it last. */
  loadedBy: string | null
  installKey: string
  signingSecret: string
  createdAt: number
  /** Since when the integration as a whole is suspended (its installations are on their own), and why. */
  suspendedAt: number | null
  suspendedReason: string | null
  /** Of the version that it is suspended for. */
  suspendedDigest: string | null
}

/** One immutable build of an integration. */
export type VersionRow = {
  id: string
  integration: string
  number: number
  digest: string
  manifest: string
  code: string
  sourceMap: string
  createdAt: number
}

/** The integration of that name. What a new version's manifest says of its owner and folder replaces the old. */
export async function ensureIntegration(
  db: Db,
  given: Pick<
    IntegrationRow,
    'name' | 'organizationId' | 'folder' | 'loadedBy' | 'installKey' | 'signingSecret'
  >,
): Promise<void> {
  const row = { ...given, versionId: null, createdAt: Date.now() }
  await db('integrations').insert(row).onConflict('name').merge(['organizationId', 'folder', 'loadedBy'])
}

export async function findIntegration(db: Db, name: string): Promise<IntegrationRow | undefined> {
  return db('integrations').where({ name }).first()
}

/** The spelling of a name that an integration has, case ignored. */
export async function findSpelling(db: Db, name: string): Promise<string | undefined> {
  const names: string[] = await db('integrations')
    .whereRaw('lower(name) = ?', name.toLowerCase())
    .pluck('name')
  return names.includes(name) ? name : names[0]
}

export async function listIntegrations(db: Db): Promise<IntegrationRow[]> {
  return db('integrations').orderBy('name')
}

/** @param versionId null takes the integration out of service; its versions and installations stay */
export async function setIntegrationVersion(db: Db, name: string, versionId: string | null): Promise<void> {
  await db('integrations').where({ name }).update({ versionId })
}

export async function hasVersion(db: Db, integration: string, digest: string): Promise<boolean> {
  return (await db('versions').where({ integration, digest }).first('id')) !== undefined
}

/** The version with that content; it is numbered and stored when it is new. */
export async function ensureVersion(
  db: Db,
  given: Omit<VersionRow, 'id' | 'number' | 'createdAt'>,
): Promise<VersionRow> {
  const { integration, digest } = given
  const found = await db('versions').where({ integration, digest }).first()
  if (found !== undefined) return found
  const last = await db('versions').where({ integration }).max({ number: 'number' }).first()
  const row = { id: createId('ver'), ...given, number: Number(last?.number ?? 0) + 1, createdAt: Date.now() }
  await db('versions').insert(row)
  return row
}

/**
 * Removes the versions of an integration but for the one that is deployed and the one before it: dispatches that have
 * begun to read the one before go on with it.
 *
 * @param before nothing when none was deployed: then the last one that was stored stays
 */
export async function removeVersions(
  db: Db,
  integration: string,
  { deployed, before }: { deployed: string; before: string | null },
): Promise<void> {
  const others = db('versions').where({ integration }).whereNot({ id: deployed })
  const last = before ?? (await others.clone().orderBy('number', 'desc').first('id'))?.id
  if (last !== undefined) await others.clone().whereNot({ id: last }).delete()
}

/** What is deployed, by name. */
export async function listDeployedDigests(db: Db): Promise<{ name: string; digest: string }[]> {
  return db('integrations')
    .join('versions', 'versions.id', 'integrations.versionId')
    .orderBy('name')
    .select('name', 'digest')
}

/** A version without its code and source map, which may be megabytes: what all but the sandbox needs of it. */
export type VersionHead = Omit<VersionRow, 'code' | 'sourceMap'>

export async function findVersionHead(db: Db, id: string): Promise<VersionHead | undefined> {
  const columns = ['id', 'integration', 'number', 'digest', 'manifest', 'createdAt']
  return db('versions').select(columns).where({ id }).first()
}

/** @returns nothing for a version that was removed (`removeVersions`) */
export async function findVersionCode(db: Db, id: string): Promise<string | undefined> {
  const row = await db('versions').select('code').where({ id }).first()
  return row?.code
}

export async function findVersion(db: Db, id: string): Promise<VersionRow | undefined> {
  return db('versions').where({ id }).first()
}

/** An integration with the number of its deployed version, and its installations by their status. */
export type IntegrationSummary = {
  name: string
  /** The owner's subdomain. */
  organization: string
  number: number | null
  suspended: boolean
  active: number
  pending: number
  /** Paused or suspended. */
  held: number
}

/** The first integrations by name, and how many more there are. */
export async function summarizeIntegrations(
  db: Db,
  limit: number,
): Promise<{ integrations: IntegrationSummary[]; more: number }> {
  const rows = await db('integrations')
    .join('organizations', 'organizations.id', 'integrations.organizationId')
    .leftJoin('versions', 'versions.id', 'integrations.versionId')
    .orderBy('name')
    .limit(limit)
    .select('name', 'number', 'suspendedAt', 'subdomain')
  const counted: { integration: string; status: string; count: string | number }[] = await db('installations')
    .whereIn(
      'integration',
      rows.map(({ name }) => name),
    )
    .groupBy('integration', 'status')
    .select('integration', 'status')
    .count({ count: '*' })
  const countOf = (name: string, isCounted: (status: string) => boolean) =>
    counted
      .filter(({ integration, status }) => integration === name && isCounted(status))
      .reduce((sum, { count }) => sum + Number(count), 0)
  const integrations = rows.map(({ name, number, suspendedAt, subdomain }) => ({
    name,
    organization: subdomain,
    number,
    suspended: suspendedAt !== null,
    active: countOf(name, (status) => status === 'active'),
    pending: countOf(name, (status) => status === 'pending'),
    held: countOf(name, (status) => status !== 'active' && status !== 'pending'),
  }))
  const [all] = await db('integrations').count({ count: '*' })
  return { integrations, more: Number(all?.count ?? 0) - integrations.length }
}
