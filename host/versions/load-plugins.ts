import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemOrigin } from '../access/actor.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { removeUnused } from '../bundle/build-cache.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import { loadBundle } from '../bundle/load-bundle.ts'
import type { Db } from '../db/db.ts'
import { type IntegrationRow, listIntegrations, retireIntegration } from '../db/queries/integrations.ts'
import { listInstallationIds } from '../db/queries/list-installations.ts'
import { hasVersion } from '../db/queries/versions.ts'
import { recordAudit } from '../logs/audit.ts'
import { type Image, readImages } from '../manifest/images.ts'
import { type NormalManifest, normalizeManifest } from '../manifest/normalize-manifest.ts'
import { hasErrors, type Problem } from '../manifest/problem.ts'
import { type FolderReading, readFolders } from '../manifest/read-folders.ts'
import { listOwnFiles } from '../manifest/read-inside.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { writeTypes } from '../manifest/settings/write-types.ts'
import { deployVersion, toVersionDigest } from './deploy-version.ts'
import { checkUniqueNames, findOwner, type OwnedReading } from './names-and-owners.ts'
import { type TryLoad, tryVersion } from './try-version.ts'

/** The result of loading a plugin folder. */
export type LoadedPlugin = {
  folder: string
  name?: string
  version?: { number: number; digest: string }
  scopes: string[]
  /** `retired`: the folder is gone or holds another integration. Only the load that notices it reports it. */
  state: 'loaded' | 'failed' | 'retired'
  problems: Problem[]
  /** The reason of a retirement with the installations that remain, or the version that is pinned. */
  note?: string
}

export type PluginSource = {
  db: Db
  box: SecretBox
  pluginsDir: string
  /** The identity of this host (`hostIdentity`). */
  place: string
  /** Other hosts load integrations from their own folders. */
  hasOthers: boolean
  dataDir: string
  reading: ReadOptions
  tryLoad: TryLoad
}

export const sdkFolder = fileURLToPath(new URL('../../runtime/sdk', import.meta.url))

/**
 * Plugin folders to versions: read the manifest, validate it, write its types, bundle its script, try the version,
 * deploy it. A folder with errors is reported and does not affect the others.
 */
export async function loadPlugins(source: PluginSource): Promise<LoadedPlugin[]> {
  const { db, dataDir, pluginsDir } = source
  const cacheFolder = join(dataDir, 'cache')
  const folders = await listPluginFolders(pluginsDir)
  const ownFiles = await listOwnFiles(dataDir, pluginsDir)
  // In a thread, as it takes up to a second for a hostile folder: readManifest, compileTypes.
  const readings = await readFolders(folders, { ...source.reading, ownFiles })
  // Owners first: a folder with the name of another owner's integration must not refuse that owner's folder.
  const owned = await Promise.all(readings.map((reading) => findOwner(db, reading)))
  const loaded: LoadedPlugin[] = []
  for (const reading of checkUniqueNames(owned)) loaded.push(await loadPlugin(reading))
  await removeUnused(cacheFolder)
  return [...loaded, ...(await retireIntegrations(source, loaded))]

  async function loadPlugin(reading: OwnedReading): Promise<LoadedPlugin> {
    const { folder, manifest, organizationId } = reading
    const problems = [...reading.problems]
    if (manifest === undefined || organizationId === undefined) return toFailed(reading, problems)
    await writeNewTypes(reading)
    const { bundle, ...bundling } = await loadBundle(folder, manifest, { sdkFolder, cacheFolder, ownFiles })
    problems.push(...bundling.problems)
    if (bundle === undefined) return toFailed(reading, problems)
    const images = await readImages(folder, manifest, ownFiles)
    const version = { manifest: normalizeManifest(manifest), bundle, images }
    const declared = { scopes: manifest.scopes, frame: reading.frames.scopes }
    problems.push(...(await tryNewVersion(source, version, { folder, ownFiles, declared })))
    if (hasErrors(problems)) return toFailed(reading, problems)
    const origin = { folder: basename(folder), place: source.place, organizationId }
    const { number, digest, pinned } = await deployVersion(db, source.box, { ...version, ...origin })
    const { name, scopes } = manifest
    const note =
      pinned === undefined
        ? {}
        : { note: `Version ${pinned} of ${name} stays deployed, as it is pinned: annex unpin ${name}` }
    return {
      folder,
      name,
      version: { number, digest },
      scopes: [...scopes],
      state: 'loaded',
      problems,
      ...note,
    }
  }
}

/** A folder that Annex cannot write to still runs: `annex types` reports the reason. */
async function writeNewTypes({ folder, types }: FolderReading): Promise<void> {
  if (types !== undefined) await writeTypes(folder, types).catch(() => {})
}

/** A stored version was tried when it was new. */
async function tryNewVersion(
  { db, tryLoad }: PluginSource,
  { manifest, bundle, images }: { manifest: NormalManifest; bundle: Bundle; images: Image[] },
  tried: Pick<Parameters<typeof tryVersion>[1], 'folder' | 'ownFiles' | 'declared'>,
): Promise<Problem[]> {
  const { name, script } = manifest
  if (await hasVersion(db, name, toVersionDigest(manifest, bundle.code, images))) return []
  return tryVersion(tryLoad, { ...tried, integration: name, script, bundle })
}

function toFailed({ folder, manifest }: FolderReading, problems: Problem[]): LoadedPlugin {
  return { folder, ...(manifest && { name: manifest.name }), scopes: [], state: 'failed', problems }
}

/**
 * Lists the sub-folders of the plugins folder, and links to folders. A link to a missing folder is listed, too: reading it
 * reports a mount that is missing, for instance.
 *
 * @returns an empty list when the plugins folder does not exist
 */
export async function listPluginFolders(pluginsDir: string): Promise<string[]> {
  const entries = await readdir(pluginsDir, { withFileTypes: true }).catch(() => [])
  const folders: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const path = join(pluginsDir, entry.name)
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(path)))
    if (isFolder) folders.push(path)
  }
  return folders.sort()
}

const leadsToFolder = (link: string): Promise<boolean> =>
  stat(link).then(
    (target) => target.isDirectory(),
    () => true,
  )

/**
 * Ends integrations whose plugin folder is gone or holds another integration. A folder with errors retires nothing: its
 * integration keeps its version.
 */
async function retireIntegrations(
  { db, place, hasOthers, pluginsDir }: PluginSource,
  loaded: readonly LoadedPlugin[],
): Promise<LoadedPlugin[]> {
  const retired: LoadedPlugin[] = []
  for (const row of await listIntegrations(db)) {
    // Another host may have it in its own plugins folder.
    const isOurs = !hasOthers || row.loadedBy === place
    const why = whyRetired(row, loaded)
    if (row.versionId === null || !isOurs || why === undefined) continue
    await db.transaction(async (transaction) => {
      await retireIntegration(transaction, row.name)
      await recordAudit(transaction, systemOrigin, {
        action: 'integration.retire',
        organizationId: row.organizationId,
        subject: { kind: 'integration', id: row.name },
      })
    })
    const { length } = await listInstallationIds(db, row.name)
    const note = `${why}. ${toRemains(row.name, length)}`
    const folder = join(pluginsDir, row.folder)
    retired.push({ folder, name: row.name, scopes: [], state: 'retired', problems: [], note })
  }
  return retired
}

function whyRetired({ name, folder }: IntegrationRow, loaded: readonly LoadedPlugin[]): string | undefined {
  const now = loaded.find((plugin) => basename(plugin.folder) === folder)
  if (now === undefined) return 'Its folder is gone'
  return now.state === 'loaded' && now.name !== name ? `Its folder holds "${now.name}" now` : undefined
}

function toRemains(name: string, installations: number): string {
  if (installations === 0) return 'It has no installations.'
  const count = installations === 1 ? 'Its installation stays' : `Its ${installations} installations stay`
  return `${count}, with settings and secrets: a folder with the name "${name}" serves them again.`
}
