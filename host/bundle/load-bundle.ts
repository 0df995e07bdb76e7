import { createHash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { version as esbuildVersion } from 'esbuild'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Problem } from '../manifest/problem.ts'
import { readInside } from '../manifest/read-inside.ts'
import { markUsed, writeAtomically } from './build-cache.ts'
import { type Bundle, type BundleOptions, type Bundling, bundleScript } from './bundle-script.ts'
import { maxFileBytes, sdkName } from './confine-imports.ts'
import { listPluginFiles, resolverFiles } from './list-plugin-files.ts'

/** Increase it when the same sources result in another bundle: with other options of esbuild, for instance. */
const format = 5

/** Files whose content decides how other files are bundled. */
const decidingFiles = new RegExp(`${resolverFiles.source}|^tsconfig\\.json$`)

/** `layout` is the digest of everything that decides which files a bundle contains. `problems` are warnings. */
type CachedBundle = { layout: string; bundle: Bundle; problems: Problem[] }

/** The SHA-256 of a file of the SDK, by its path in it. */
export type SdkDigests = (path: string) => Promise<string | undefined>

/** Reads each file of the SDK once: all bundles of a load contain the same ones. */
export function createSdkDigests(sdkFolder: string): SdkDigests {
  const digests = new Map<string, Promise<string | undefined>>()
  return (path) => {
    const digest = digests.get(path) ?? digestOfFile(sdkFolder, path)
    digests.set(path, digest)
    return digest
  }
}

/**
 * The bundle of a plugin folder with its warnings, from the cache when its files are unchanged. Contents are compared, as
 * installers preserve sizes and times. The cache has one bundle for each folder.
 *
 * @param options.digestOfSdk shared by the bundles of one load
 */
export async function loadBundle(
  folder: string,
  manifest: Pick<Manifest, 'script'>,
  options: BundleOptions & { cacheFolder: string; digestOfSdk?: SdkDigests },
): Promise<Bundling & { cached: boolean }> {
  // A file may disappear meanwhile: bundling reports it.
  const layout = await toLayout(folder, manifest).catch(() => undefined)
  if (layout === undefined) return { ...(await bundleScript(folder, manifest, options)), cached: false }
  const path = join(options.cacheFolder, 'bundles', `${toDigest(await realpath(folder))}.json`)
  const cached = await readCache(path)
  const digestOfSdk = options.digestOfSdk ?? createSdkDigests(options.sdkFolder)
  if (cached?.layout === layout && (await areCurrent(cached.bundle.inputs, folder, digestOfSdk))) {
    await markUsed(path)
    return { bundle: cached.bundle, problems: cached.problems, cached: true }
  }
  const bundling = await bundleScript(folder, manifest, options)
  const { bundle, problems } = bundling
  if (bundle !== undefined) await writeCache(path, { layout, bundle, problems })
  return { ...bundling, cached: false }
}

/** The digest of everything that decides which files a script imports. `undefined` for a folder that cannot be listed. */
async function toLayout(folder: string, { script }: Pick<Manifest, 'script'>): Promise<string | undefined> {
  const listing = await listPluginFiles(folder)
  if ('problem' in listing) return undefined
  // Warnings name the folder as it was given.
  const hash = createHash('sha256').update(JSON.stringify([format, esbuildVersion, folder, script ?? null]))
  for (const { path, link } of listing.files) {
    // Annex writes it, and it has types only.
    if (path === join('generated', 'integration.ts')) continue
    const content = decidingFiles.test(basename(path)) ? await digestOfFile(folder, path) : undefined
    hash.update(JSON.stringify([path, link, content]))
  }
  return hash.digest('hex')
}

async function areCurrent(
  inputs: Bundle['inputs'],
  folder: string,
  digestOfSdk: SdkDigests,
): Promise<boolean> {
  for (const [path, digest] of Object.entries(inputs)) {
    const isOfSdk = path.startsWith(`${sdkName}/`)
    const now = isOfSdk ? digestOfSdk(relative(sdkName, path)) : digestOfFile(folder, path)
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
