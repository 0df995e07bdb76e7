import { createHash, type Hash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { version as esbuildVersion } from 'esbuild'

const rootFolder = fileURLToPath(new URL('../..', import.meta.url))
const runtimeFolder = path.join(rootFolder, 'runtime')
const lockFile = path.join(rootFolder, 'package-lock.json')

/** A text built from sources. `digest` is the SHA-256 of the sources, in hex. */
export type Build = { code: string; digest: string }

/**
 * Builds a text from `runtime/`, or reads it from the cache: the file `NAME-DIGEST.js`. The digest covers all sources of
 * `runtime/`, the recipe, esbuild's version, and the lock file, which stands for the libraries.
 *
 * @param given.recipe the file with the options of the build
 */
export async function cacheBuild(given: {
  name: string
  cacheFolder: string
  recipe: string
  build: () => Promise<string>
}): Promise<Build> {
  const digest = digestOf(given.recipe)
  const file = path.join(given.cacheFolder, `${given.name}-${digest}.js`)
  const cached = await readIfThere(file)
  if (cached !== undefined) {
    await markUsed(file)
    return { code: cached.toString(), digest }
  }
  const code = await given.build()
  await writeAtomically(file, code)
  return { code, digest }
}

/** The folder counts, too: the code of a process contains its path. */
const digestOf = (recipe: string): string =>
  addFiles(createHash('sha256').update(digestOfSources()), [recipe])
    .update(`${rootFolder}\0${esbuildVersion}`)
    .digest('hex')

let sourcesDigest: string | undefined

/** Covers all of `runtime/`, as its parts import each other. Cached: a start needs it four times. */
function digestOfSources(): string {
  if (sourcesDigest !== undefined) return sourcesDigest
  const names = readdirSync(runtimeFolder, { recursive: true, encoding: 'utf8' })
  const sources = names.filter((name) => name.endsWith('.ts')).sort()
  const files = [...sources.map((name) => path.join(runtimeFolder, name)), lockFile]
  sourcesDigest = addFiles(createHash('sha256'), files).digest('hex')
  return sourcesDigest
}

function addFiles(hash: Hash, files: readonly string[]): Hash {
  for (const file of files) {
    const content = readFileSync(file)
    hash.update(`${path.relative(rootFolder, file)}\0${content.length}\0`).update(content)
  }
  return hash
}

/** @returns `undefined` when the file does not exist */
export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Each process writes its own draft, and renaming is atomic: processes may build at the same time. The draft is flushed
 * first. Otherwise a power cut may leave an empty file, and no script would load again.
 */
export async function writeAtomically(file: string, data: string | Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${randomUUID()}.tmp`
  await writeFile(temporary, data, { flush: true, mode: 0o600 })
  await rename(temporary, file)
}

const unusedMs = 30 * 24 * 60 * 60 * 1000

/** `removeUnused` keeps the file for another 30 days. */
export async function markUsed(file: string): Promise<void> {
  const now = new Date()
  // Another process may have removed it: the next use builds it again.
  await utimes(file, now, now).catch(() => {})
}

/** Removes files that were unused for 30 days: those of older versions of Annex and of removed plugin folders. */
export async function removeUnused(cacheFolder: string): Promise<void> {
  const entries = await readdir(cacheFolder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const usedMs = (await stat(file).catch(() => undefined))?.mtimeMs ?? Date.now()
    if (usedMs < Date.now() - unusedMs) await rm(file, { force: true }).catch(() => {})
  }
}
