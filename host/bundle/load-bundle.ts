import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { version as esbuildVersion } from 'esbuild'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { type Bundle, type BundleOptions, type Bundling, bundleScript } from './bundle-script.ts'
import { listPluginFiles, type PluginFile } from './list-plugin-files.ts'

/** Raise it when the same sources would make another bundle: other options of esbuild, another wrapping. */
const format = 3

/**
 * The bundle of a plugin folder, from the cache if nothing that goes into it has changed. Only bundles without a
 * problem are kept, so that warnings are shown each time.
 *
 * @param options.cacheFolder Annex's own; made when it does not exist
 */
export async function loadBundle(
  folder: string,
  manifest: Manifest,
  options: BundleOptions & { cacheFolder: string },
): Promise<Bundling & { cached: boolean }> {
  // A file that goes while it is read: bundling says what is missing.
  const key = await toBundleKey(folder, manifest, options.sdkFolder).catch(() => undefined)
  if (key === undefined) return { ...(await bundleScript(folder, manifest, options)), cached: false }
  const path = join(options.cacheFolder, 'bundles', `${key}.json`)
  const kept = await readCache(path)
  if (kept !== undefined) return { bundle: kept, problems: [], cached: true }
  const bundling = await bundleScript(folder, manifest, options)
  if (bundling.bundle !== undefined && bundling.problems.length === 0) await writeCache(path, bundling.bundle)
  return { ...bundling, cached: false }
}

/** A hash over everything that can change the bundle; nothing when the folder cannot be listed. */
async function toBundleKey(
  folder: string,
  manifest: Manifest,
  sdkFolder: string,
): Promise<string | undefined> {
  const listing = await listPluginFiles(folder)
  const sdk = await listPluginFiles(sdkFolder)
  if ('problem' in listing || 'problem' in sdk) return undefined
  const hash = createHash('sha256')
  hash.update(JSON.stringify([format, esbuildVersion, manifest.script ?? null]))
  for (const file of listing.files) {
    // Our own, made from the manifest: types only.
    if (file.path === join('generated', 'integration.ts')) continue
    hash.update(await toFingerprint(folder, file))
  }
  hash.update('sdk')
  for (const file of sdk.files) hash.update(await toFingerprint(sdkFolder, file))
  return hash.digest('hex')
}

async function toFingerprint(folder: string, file: PluginFile): Promise<string> {
  // Packages are many and large, and change only when they are installed: time and size tell.
  if (file.path.split('/').includes('node_modules')) {
    return JSON.stringify([file.path, file.size, file.modifiedMs])
  }
  if (file.size > maxHashedBytes) return JSON.stringify([file.path, file.size, file.modifiedMs])
  const bytes = await readFile(join(folder, file.path))
  return JSON.stringify([file.path, createHash('sha256').update(bytes).digest('hex')])
}

/** Above it a file cannot be part of a bundle. */
const maxHashedBytes = 5 * 1024 * 1024

/** A bundle that was kept; nothing when there is none or the file was damaged. */
async function readCache(path: string): Promise<Bundle | undefined> {
  try {
    const { digest, text } = JSON.parse(await readFile(path, 'utf8'))
    return digest === toDigest(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

async function writeCache(path: string, bundle: Bundle): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const text = JSON.stringify(bundle)
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, JSON.stringify({ digest: toDigest(text), text }))
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

const toDigest = (text: string): string => createHash('sha256').update(text).digest('hex')
