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

/** Raise it when the same sources would make another bundle: other options of esbuild, another wrapping. */
const format = 3

/** A bundle as it is kept, with the digest of all that decides which files go into it. */
type Kept = { layout: string; bundle: Bundle }

/**
 * The bundle of a plugin folder, from the cache if nothing that goes into it has changed: content counts, as installers
 * keep sizes and times. Only bundles without a problem are kept, so that warnings are shown each time. A folder has one
 * place in the cache, which its next bundle takes.
 *
 * @param options.cacheFolder Annex's own; made when it does not exist
 */
export async function loadBundle(
  folder: string,
  manifest: Pick<Manifest, 'script'>,
  options: BundleOptions & { cacheFolder: string },
): Promise<Bundling & { cached: boolean }> {
  // A file that goes while it is read: bundling says what is missing.
  const layout = await toLayout(folder, manifest).catch(() => undefined)
  if (layout === undefined) return { ...(await bundleScript(folder, manifest, options)), cached: false }
  const path = join(options.cacheFolder, 'bundles', `${toDigest(await realpath(folder))}.json`)
  const kept = await readCache(path)
  if (kept?.layout === layout && (await areCurrent(kept.bundle.inputs, folder, options.sdkFolder))) {
    await markUsed(path)
    return { bundle: kept.bundle, problems: [], cached: true }
  }
  const bundling = await bundleScript(folder, manifest, options)
  const { bundle, problems } = bundling
  if (bundle !== undefined && problems.length === 0) await writeCache(path, { layout, bundle })
  return { ...bundling, cached: false }
}

/** A digest of what decides which files a script imports; nothing when the folder cannot be listed. */
async function toLayout(folder: string, { script }: Pick<Manifest, 'script'>): Promise<string | undefined> {
  const listing = await listPluginFiles(folder)
  if ('problem' in listing) return undefined
  const hash = createHash('sha256').update(JSON.stringify([format, esbuildVersion, script ?? null]))
  for (const { path, link } of listing.files) {
    // Our own, made from the manifest: types only.
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
  // Only compared: a file of Annex's own would have another digest, and be refused when it is bundled.
  const reading = await readInside(folder, path, maxFileBytes, undefined)
  return 'bytes' in reading ? toDigest(reading.bytes) : undefined
}

/** A bundle that was kept; nothing when there is none or the file was damaged. */
async function readCache(path: string): Promise<Kept | undefined> {
  try {
    const { digest, text } = JSON.parse(await readFile(path, 'utf8'))
    return digest === toDigest(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

async function writeCache(path: string, kept: Kept): Promise<void> {
  const text = JSON.stringify(kept)
  await writeAtomically(path, JSON.stringify({ digest: toDigest(text), text }))
}

const toDigest = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
