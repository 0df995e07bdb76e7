import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeUnused } from '../bundle/build-cache.ts'
import { loadBundle } from '../bundle/load-bundle.ts'
import { toVersionDigest } from '../bundle/version-digest.ts'
import { hasVersion } from '../db/queries/integrations.ts'
import { type NormalManifest, normalizeManifest } from '../manifest/normalize-manifest.ts'
import { listOwnFiles, type OwnFiles } from '../manifest/own-files.ts'
import { hasErrors, type Problem } from '../manifest/problem.ts'
import type { FolderReading } from '../manifest/read-folder.ts'
import { readFolders } from '../manifest/read-folders.ts'
import { writeTypes } from '../manifest/settings/write-types.ts'
import { deployVersion } from './deploy-version.ts'
import { findOwner, type OwnedReading } from './names-and-owners.ts'
import type { LoadedPlugin, PluginSource } from './plugin-source.ts'
import { retireIntegrations } from './retire-integrations.ts'
import { tryVersion } from './try-version.ts'
import { checkUniqueNames } from './unique-names.ts'

export const sdkFolder = fileURLToPath(new URL('../../runtime/sdk', import.meta.url))

/**
 * Plugin folders to versions: read and check the manifest, compile its types, bundle the script, load it once,
 * store the version. A folder with errors is reported, and disturbs none of the others.
 */
export async function loadPlugins(source: PluginSource): Promise<LoadedPlugin[]> {
  const folders = await listPluginFolders(source.pluginsDir)
  const ownFiles = await listOwnFiles(source.dataDir, source.pluginsDir)
  const readings = await readFolders(folders, { ...source.reading, ownFiles })
  // Owners come first: a folder that claims the deployed name of another owner must not take the owner's folder down.
  const owned = await Promise.all(readings.map((reading) => findOwner(source.db, reading)))
  const loaded: LoadedPlugin[] = []
  for (const [index, reading] of checkUniqueNames(owned).entries()) {
    loaded.push(await loadPlugin(source, ownFiles, folders[index] ?? '', reading))
  }
  await removeUnused(join(source.dataDir, 'cache'))
  return [...loaded, ...(await retireIntegrations(source, loaded))]
}

async function loadPlugin(
  source: PluginSource,
  ownFiles: OwnFiles,
  folder: string,
  reading: OwnedReading,
): Promise<LoadedPlugin> {
  const { db, box, place, dataDir } = source
  const cacheFolder = join(dataDir, 'cache')
  const { manifest, organizationId, problems, types } = reading
  if (manifest === undefined || organizationId === undefined) return failed(folder, reading, problems)
  if (types !== undefined) {
    await writeTypes(folder, types).catch(() => {
      // A folder that cannot be written to still runs; `annex types` says what is wrong with it.
    })
  }
  const { bundle, problems: bundleProblems } = await loadBundle(folder, manifest, {
    sdkFolder,
    cacheFolder,
    ownFiles,
  })
  const all = [...problems, ...bundleProblems]
  if (bundle === undefined) return failed(folder, reading, all)
  const normal = normalizeManifest(manifest)
  const declared = { scopes: manifest.scopes, spot: reading.spots.scopes }
  all.push(...(await tryNewVersion(source, normal, { folder, bundle, ownFiles, declared })))
  if (hasErrors(all)) return failed(folder, reading, all)
  const { number, digest } = await deployVersion(db, box, {
    manifest: normal,
    bundle,
    folder: basename(folder),
    place,
    organizationId,
  })
  const { name, scopes } = manifest
  return { folder, name, version: { number, digest }, scopes: [...scopes], state: 'loaded', problems: all }
}

/** A version that is stored was tried when it was new. */
async function tryNewVersion(
  { db, tryLoad }: PluginSource,
  manifest: NormalManifest,
  tried: Omit<Parameters<typeof tryVersion>[1], 'integration' | 'script'>,
): Promise<Problem[]> {
  const { name, script } = manifest
  const digest = toVersionDigest(manifest, tried.bundle.code)
  if (script === undefined || (await hasVersion(db, name, digest))) return []
  return tryVersion(tryLoad, { ...tried, integration: name, script })
}

/**
 * Every sub-folder of the plugins folder, and every link to a folder. A link that leads nowhere is listed too: it may be
 * a place that is not mounted, which reading reports.
 *
 * @returns none when there is no such folder
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

function failed(folder: string, { manifest }: FolderReading, problems: Problem[]): LoadedPlugin {
  return { folder, ...(manifest && { name: manifest.name }), scopes: [], state: 'failed', problems }
}
