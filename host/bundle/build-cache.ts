import { createHash, type Hash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { version as esbuildVersion } from 'esbuild'

const rootFolder = fileURLToPath(new URL('../..', import.meta.url))
const runtimeFolder = path.join(rootFolder, 'runtime')
const lockFile = path.join(rootFolder, 'package-lock.json')

/** A text that was built. `digest` is the SHA-256 of what it was built from, in hex. */
export type Build = { code: string; digest: string }

/**
 * Builds a text out of `runtime/`, or takes it from `cacheFolder`, where it lies as `NAME-DIGEST.js`: under the digest of
 * all sources of `runtime/`, of esbuild's version and of the lock file, which stands for the libraries in it. Throws what
 * `build` throws.
 *
 * @param given.recipe the file that says how it is built
 */
export async function keepBuild(given: {
  name: string
  cacheFolder: string
  recipe: string
  build: () => Promise<string>
}): Promise<Build> {
  const digest = digestOf(given.recipe)
  const file = path.join(given.cacheFolder, `${given.name}-${digest}.js`)
  const kept = await readIfThere(file)
  if (kept !== undefined) {
    await markUsed(file)
    return { code: kept.toString(), digest }
  }
  const code = await given.build()
  await writeAtomically(file, code)
  return { code, digest }
}

/** The code of a process names the folder that it is in. */
const digestOf = (recipe: string): string =>
  addFiles(createHash('sha256').update(digestOfSources()), [recipe])
    .update(`${rootFolder}\0${esbuildVersion}`)
    .digest('hex')

let sourcesDigest: string | undefined

/** All of `runtime/`, as what lies in one part of it imports what lies in another. Read once: a start asks four times. */
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

/** @returns `undefined` where there is no such file */
export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Two processes may build at once: each writes a file of its own, and renaming is atomic. Flushed first: else a power
 * cut may leave the name without the text, and no script would ever load again.
 */
export async function writeAtomically(file: string, data: string | Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const temporary = `${file}.${randomUUID()}.tmp`
  await writeFile(temporary, data, { flush: true })
  await rename(temporary, file)
}

const unusedMs = 30 * 24 * 60 * 60 * 1000

/** A file of the cache was used: `removeUnused` leaves it for another 30 days. */
export async function markUsed(file: string): Promise<void> {
  const now = new Date()
  // One that another Annex has removed meanwhile is made again.
  await utimes(file, now, now).catch(() => {})
}

/** Removes what lies in the cache and was not used for 30 days: of older versions of Annex, and of folders that are gone. */
export async function removeUnused(cacheFolder: string): Promise<void> {
  const entries = await readdir(cacheFolder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const usedMs = (await stat(file).catch(() => undefined))?.mtimeMs ?? Date.now()
    if (usedMs < Date.now() - unusedMs) await rm(file, { force: true }).catch(() => {})
  }
}
