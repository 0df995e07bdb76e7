import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { removeUnused } from '../bundle/build-cache.ts'
import { createSdkDigests, loadBundle, type SdkDigests } from '../bundle/load-bundle.ts'
import type { Db } from '../db/db.ts'
import { withExternalIdsOf } from '../db/queries/external-ids.ts'
import { type LoadedVersionRow, listIntegrations, listLoadedVersions } from '../db/queries/integrations.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { hasVersion } from '../db/queries/versions.ts'
import { readImages } from '../manifest/images.ts'
import { normalizeManifest } from '../manifest/normalize-manifest.ts'
import { hasErrors, type Problem } from '../manifest/problem.ts'
import { type FolderReading, readFolders } from '../manifest/read-folders.ts'
import { listOwnFiles, type OwnFiles } from '../manifest/read-inside.ts'
import type { Operator } from '../manifest/read-options.ts'
import { writeTypes } from '../manifest/settings/write-types.ts'
import { sideBySide } from '../side-by-side.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { deployVersion, toVersionDigest } from './deploy-version.ts'
import type { LoadedPlugin, PluginSource } from './loaded-plugin.ts'
import { checkUniqueNames, findOwners, type OwnedReading } from './names-and-owners.ts'
import { listPluginFolders } from './plugins-dir.ts'
import { retireIntegrations } from './retire-integrations.ts'
import { tryVersion } from './try-version.ts'

export const sdkFolder = fileURLToPath(new URL('../../runtime/sdk', import.meta.url))

/** `version`: the number of the deployed version. */
export type OnDeployed = (name: string, version: number) => Promise<void>

/** `loaded` is among those that `loadPlugins` returns. `total`: all folders. */
export type OnFolder = (loaded: LoadedPlugin | undefined, total: number) => void

/**
 * Plugin folders to versions: read the manifest, validate it, write its types, bundle its script, try the version,
 * deploy it. Folders are loaded side by side. A folder with errors is reported and does not affect the others.
 *
 * @param given.signal ends the load between two steps of a folder; what is deployed by then stays
 * @param given.onBegin called for each folder whose loading begins
 * @param given.onFolder called when the folders are known, and for each that has been loaded
 * @param given.onDeployed called when one of them has another version than before
 * @throws AnnexError `unavailable` after the signal; `settings_invalid` when the plugins folder cannot be read
 */
export async function loadPlugins(
  source: PluginSource,
  given: {
    signal: AbortSignal
    onBegin?: (folder: string) => void
    onFolder: OnFolder
    onDeployed: OnDeployed
  },
): Promise<LoadedPlugin[]> {
  const { db, dataDir, pluginsDir, isDefaultDir } = source
  const { signal, onFolder, onDeployed } = given
  const folders = await listPluginFolders({ path: pluginsDir, isDefault: isDefaultDir })
  onFolder(undefined, folders.length)
  const ownFiles = await listOwnFiles(dataDir, pluginsDir)
  // In threads, as it takes up to a second for a hostile folder: readManifest, compileTypes.
  const reading = { ...source.reading, ownFiles, ...(await readOperator(db, source.reading)) }
  const readings = await readFolders(folders, reading, { signal })
  // Owners first: a folder with the name of another owner's integration must not refuse that owner's folder.
  const owned = checkUniqueNames(await findOwners(db, await listIntegrations(db), readings, reading))
  const stored = new Map((await listLoadedVersions(db)).map((row) => [row.name, row]))
  const context = { source, ownFiles, stored, digestOfSdk: createSdkDigests(sdkFolder), signal, onDeployed }
  const loaded = await sideBySide(owned.toSorted(byPublisher), availableParallelism(), async (reading) => {
    given.onBegin?.(reading.folder)
    const plugin = await loadPlugin(reading, context)
    onFolder(plugin, folders.length)
    return plugin
  })
  await removeUnused(join(dataDir, 'cache'))
  return [...loaded.toSorted(byFolder), ...(await retireIntegrations(source, loaded))]
}

/**
 * The present names of the operator's organization. Attack: another organization has one of them as its subdomain, which
 * comes before an external id.
 */
async function readOperator(db: Db, { operatorOrganizationId = '' }: Operator): Promise<Partial<Operator>> {
  const operator = await findOrganization(db, operatorOrganizationId)
  if (operator === undefined) return {}
  const { id, subdomain, externalIds } = await withExternalIdsOf(db, operator)
  const owners = await Promise.all(externalIds.map((name) => findOrganization(db, name)))
  return {
    operatorOrganization: subdomain,
    operatorExternalIds: externalIds.filter((_, index) => owners[index]?.id === id),
  }
}

type Context = {
  source: PluginSource
  ownFiles: OwnFiles
  /** By name, as they were before this load. */
  stored: ReadonlyMap<string, LoadedVersionRow>
  digestOfSdk: SdkDigests
  signal: AbortSignal
  onDeployed: OnDeployed
}

/** One trial process serves the versions of a publisher that follow each other. */
const byPublisher = (one: OwnedReading, other: OwnedReading): number =>
  compare(one.organizationId ?? '', other.organizationId ?? '')

const byFolder = (one: LoadedPlugin, other: LoadedPlugin): number => compare(one.folder, other.folder)

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)

async function loadPlugin(
  reading: OwnedReading,
  { source, ownFiles, stored, digestOfSdk, signal, onDeployed }: Context,
): Promise<LoadedPlugin> {
  const { db, box, hostId, dataDir } = source
  const { folder, manifest, organizationId } = reading
  const problems = [...reading.problems]
  signal.throwIfAborted()
  if (manifest === undefined || organizationId === undefined) return toFailed(reading, problems)
  await writeNewTypes(reading)
  const { bundle, ...bundling } = await unlessAborted(
    loadBundle(folder, manifest, { sdkFolder, cacheFolder: join(dataDir, 'cache'), ownFiles, digestOfSdk }),
    signal,
  )
  problems.push(...bundling.problems)
  if (bundle === undefined) return toFailed(reading, problems)
  const images = await readImages(folder, manifest, ownFiles)
  const version = { manifest: normalizeManifest(manifest), bundle, images }
  const loadedFrom = { folder: basename(folder), hostId, organizationId }
  const { name } = manifest
  const digest = toVersionDigest(version.manifest, bundle.code, images)
  const before = stored.get(name)
  if (before !== undefined && isUnchanged(before, { ...loadedFrom, digest })) {
    return toLoaded(reading, manifest, { number: before.number, digest }, problems)
  }
  let events: string[] | undefined
  // A stored version was tried when it was new.
  if (!(await hasVersion(db, name, digest))) {
    const declared = { scopes: manifest.scopes, frames: reading.frames }
    const tried = { folder, publisher: organizationId, integration: name, script: manifest.script, bundle }
    const trial = await unlessAborted(tryVersion(source.tryLoad, { ...tried, ownFiles, declared }), signal)
    problems.push(...trial.problems)
    events = trial.events
  }
  if (hasErrors(problems)) return toFailed(reading, problems)
  signal.throwIfAborted()
  const { number, pinned } = await deployVersion(db, box, {
    ...version,
    ...loadedFrom,
    ...(events && { events }),
  })
  await onDeployed(name, pinned ?? number)
  const plugin = toLoaded(reading, manifest, { number, digest }, problems)
  if (pinned === undefined) return plugin
  const note = `Version ${pinned} of ${name} stays deployed, as it is pinned: npx annex unpin ${name}`
  return { ...plugin, note }
}

const isUnchanged = (
  before: LoadedVersionRow,
  now: { folder: string; hostId: string; organizationId: string; digest: string },
): boolean =>
  before.digest === now.digest &&
  before.folder === now.folder &&
  before.loadedBy === now.hostId &&
  before.organizationId === now.organizationId

function toLoaded(
  { folder }: FolderReading,
  { name, scopes }: Manifest,
  version: { number: number; digest: string },
  problems: Problem[],
): LoadedPlugin {
  return { folder, name, version, scopes: [...scopes], state: 'loaded', problems }
}

/** A folder that Annex cannot write to still runs: `annex types` reports the reason. */
async function writeNewTypes({ folder, types }: FolderReading): Promise<void> {
  if (types !== undefined) await writeTypes(folder, types).catch(() => {})
}

function toFailed({ folder, manifest }: FolderReading, problems: Problem[]): LoadedPlugin {
  return { folder, ...(manifest && { name: manifest.name }), scopes: [], state: 'failed', problems }
}
