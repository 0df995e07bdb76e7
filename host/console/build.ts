import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildFailure, build, version as esbuildVersion } from 'esbuild'
import { readIfThere, writeAtomically } from '../bundle/build-cache.ts'
import { AnnexError, messageOf } from '../errors.ts'

const appFolder = fileURLToPath(new URL('app', import.meta.url))
const rootFolder = fileURLToPath(new URL('../..', import.meta.url))

/** What the page names: addresses below `/assets/`, and the digest of the sources. */
export type ConsoleBuild = { digest: string; script: string; style: string }

/** Where the files of all builds are. Their names have a hash of their content. */
export const assetsFolderOf = (cacheFolder: string): string => path.join(cacheFolder, 'console', 'assets')

/**
 * Builds the browser side, or finds the build of the same sources in the cache folder.
 *
 * @throws AnnexError `console_broken` with the first error of the build, in one line
 */
export async function buildConsole(cacheFolder: string): Promise<ConsoleBuild> {
  const digest = digestOfSources()
  const folder = assetsFolderOf(cacheFolder)
  const index = path.join(cacheFolder, 'console', 'index.json')
  const cached = await readIfThere(index)
  const last: { build: ConsoleBuild; files: string[] } | undefined = cached && JSON.parse(String(cached))
  if (last?.build.digest === digest && (await areThere(folder, last.files))) {
    await removeOlder(folder, last.files)
    return last.build
  }
  // Tabs that are open ask for files of the build before, from now on for a day.
  for (const name of last?.files ?? []) await touch(path.join(folder, name))
  const { outputFiles, metafile } = await bundle(folder)
  const files = await Promise.all(outputFiles.map((file) => writeCompressed(file)))
  const made = { build: { digest, ...entriesOf(metafile) }, files: files.flat() }
  await writeAtomically(index, JSON.stringify(made))
  await removeOlder(folder, made.files)
  return made.build
}

function digestOfSources(): string {
  const names = readdirSync(appFolder, { recursive: true, encoding: 'utf8' })
  const sources = names.filter((name) => /\.(tsx?|css)$/.test(name)).map((name) => path.join(appFolder, name))
  const shared = ['schemas/client.ts', 'package-lock.json'].map((name) => path.join(rootFolder, name))
  const hash = createHash('sha256').update(esbuildVersion)
  for (const file of [...sources.sort(), ...shared, fileURLToPath(import.meta.url)]) {
    const content = readFileSync(file)
    hash.update(`${path.relative(rootFolder, file)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

async function bundle(outdir: string) {
  try {
    return await build({
      absWorkingDir: rootFolder,
      entryPoints: { main: path.join(appFolder, 'main.tsx'), style: path.join(appFolder, 'style.css') },
      // Pages reach all that the first page has. It is one file then, in the place of one for each set of pages that share a part.
      inject: [path.join(appFolder, 'main.tsx')],
      bundle: true,
      splitting: true,
      format: 'esm',
      minify: true,
      target: ['chrome120', 'firefox121', 'safari17'],
      jsx: 'automatic',
      jsxImportSource: 'preact',
      // The caller's own tsconfig.json may not decide how Annex is built.
      tsconfigRaw: '{}',
      outdir,
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      legalComments: 'none',
      write: false,
      metafile: true,
      logLevel: 'silent',
    })
  } catch (error) {
    throw toBuildError(error)
  }
}

/** The first error of a build, in one line. */
export function toBuildError(cause: unknown): AnnexError {
  const [first] = (cause as BuildFailure).errors ?? []
  const { file, line, column } = first?.location ?? {}
  const where = file === undefined ? '' : `${file}:${line}:${(column ?? 0) + 1}: `
  const text = first?.text ?? messageOf(cause)
  const told = `The console could not be built: ${where}${text}`.replaceAll(/\s+/g, ' ')
  return new AnnexError('console_broken', told, { cause })
}

function entriesOf(metafile: {
  outputs: Record<string, { entryPoint?: string; imports: { path: string }[] }>
}) {
  const toAddress = (file: string) => `/assets/${path.basename(file)}`
  const entry = (name: string) =>
    Object.entries(metafile.outputs).find(([, one]) => one.entryPoint?.endsWith(name))
  // The entry itself does nothing but import the file that it shares with all pages.
  const [, { imports = [] } = {}] = entry('app/main.tsx') ?? []
  const [style = ''] = entry('app/style.css') ?? []
  return { script: toAddress(imports[0]?.path ?? ''), style: toAddress(style) }
}

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** A file that is there has the same content: its name says so. @returns the names */
async function writeCompressed({
  path: file,
  contents,
}: {
  path: string
  contents: Uint8Array
}): Promise<string[]> {
  const brotli = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length } }
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  await Promise.all([
    writeAtomically(file, contents),
    toBrotli(contents, brotli).then((data) => writeAtomically(`${file}.br`, data)),
    toGzip(contents, { level: 9 }).then((data) => writeAtomically(`${file}.gz`, data)),
  ])
  return ['', '.br', '.gz'].map((ending) => path.basename(file) + ending)
}

async function areThere(folder: string, names: readonly string[]): Promise<boolean> {
  const found = new Set(await readdir(folder).catch(() => []))
  return names.every((name) => found.has(name))
}

const dayMs = 24 * 60 * 60 * 1000

/** Removes files of older builds a day after they were replaced. */
async function removeOlder(folder: string, files: readonly string[]): Promise<void> {
  const current = new Set(files)
  for (const name of files) await touch(path.join(folder, name))
  for (const name of await readdir(folder)) {
    if (current.has(name)) continue
    const file = path.join(folder, name)
    const usedMs = (await stat(file).catch(() => undefined))?.mtimeMs ?? Date.now()
    if (usedMs < Date.now() - dayMs) await rm(file, { force: true }).catch(() => {})
  }
}

/** Another process may have removed it. */
async function touch(file: string): Promise<void> {
  const now = new Date()
  await utimes(file, now, now).catch(() => {})
}
