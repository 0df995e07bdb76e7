import { createHash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { version as esbuildVersion } from 'esbuild'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { readInside } from '../manifest/read-inside.ts'
import { markUsed, writeAtomically } from './build-cache.ts'
import { type Bundle, type BundleOptions, type Bundling, bundleScript } from './bundle-script.ts'
import { maxFileBytes, sdkName } from './confine-imports.ts'
import { listPluginFiles, resolverFiles } from './list-plugin-files.ts'

/** Increase it when the same sources result in another bundle: with other options of esbuild, for instance. */
const format = 3

/** `layout` is the digest of everything that decides which files a bundle contains. */
type CachedBundle = { layout: string; bundle: Bundle }

/**
 * The bundle of a plugin folder, from the cache when its files are unchanged. Contents are compared, as installers
 * preserve sizes and times. Bundles with warnings are not cached, so that each load reports the warnings. The cache has
 * one bundle for each folder.
 */
export async function loadBundle(
  folder: string,
  manifest: Pick<Manifest, 'script'>,
  options: BundleOptions & { cacheFolder: string },
): Promise<Bundling & { cached: boolean }> {
  // A file may disappear meanwhile: bundling reports it.
  const layout = await toLayout(folder, manifest).catch(() => undefined)
  if (layout === undefined) return { ...(await bundleScript(folder, manifest, options)), cached: false }
  const path = join(options.cacheFolder, 'bundles', `${toDigest(await realpath(folder))}.json`)
  const cached = await readCache(path)
  if (cached?.layout === layout && (await areCurrent(cached.bundle.inputs, folder, options.sdkFolder))) {
    await markUsed(path)
    return { bundle: cached.bundle, problems: [], cached: true }
  }
  const bundling = await bundleScript(folder, manifest, options)
  const { bundle, problems } = bundling
  if (bundle !== undefined && problems.length === 0) await writeCache(path, { layout, bundle })
  return { ...bundling, cached: false }
}

/** The digest of everything that decides which files a script imports. `undefined` for a folder that cannot be listed. */
async function toLayout(folder: string, { script }: Pick<Manifest, 'script'>): Promise<string | undefined> {
  const listing = await listPluginFiles(folder)
  if ('problem' in listing) return undefined
  const hash = createHash('sha256').update(JSON.stringify([format, esbuildVersion, script ?? null]))
  for (const { path, link } of listing.files) {
    // Annex writes it, and it has types only.
    if (path === join('generated', 'integration.ts')) continue
    const content = resolverFiles.test(basename(path)) ? await digestOfFile(folder, path) : undefined
    hash.update(JSON.stringify([path, link, content]))
  }
  return hash.digest('hex')
}

async function areCurrent(inputs: Bundle['inputs'], folder: string, sdkFolder: string): Promise<boolean> {
  for (const [path, digest] of Object.entries(inputs)) {
    const isOfSdk = path.startsWith(`${sdkName}/`)
    const now = isOfSdk ? digestOfFile(sdkFolder, relative(sdkName, path)) : digestOfFile(folder, path)
    if ((await now) !== digest) return false
  }
  return true
}

async function digestOfFile(folder: string, path: string): Promise<string | undefined> {
  // Compared only: bundling refuses files of Annex itself.
  const reading = await readInside(folder, path, maxFileBytes, undefined)
  return 'bytes' in reading ? toDigest(reading.bytes) : undefined
}

/** `undefined` when the file is missing or damaged. */
async function readCache(path: string): Promise<CachedBundle | undefined> {
  try {
    const { digest, text } = JSON.parse(await readFile(path, 'utf8'))
    return digest === toDigest(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

async function writeCache(path: string, bundle: CachedBundle): Promise<void> {
  const text = JSON.stringify(bundle)
  await writeAtomically(path, JSON.stringify({ digest: toDigest(text), text }))
}

const toDigest = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
