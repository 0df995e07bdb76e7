import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, version as esbuildVersion, type Plugin } from 'esbuild'

const rootFolder = fileURLToPath(new URL('../..', import.meta.url))
const webFolder = path.join(rootFolder, 'runtime/web')

/** The prelude of every isolate. `digest` is the SHA-256 of what it was built from, in hex. */
export type Prelude = { code: string; digest: string }

/**
 * Bundles `runtime/web` into one script, or takes it from `cacheFolder`, where it lies under the digest of its
 * sources, of esbuild's version and of the lock file. Throws esbuild's error where a source is broken.
 */
export const buildPrelude = async (options: { cacheFolder: string }): Promise<Prelude> => {
  const digest = await digestOfSources()
  const file = path.join(options.cacheFolder, `prelude-${digest}.js`)
  const cached = await readIfThere(file)
  if (cached !== undefined) return { code: cached, digest }
  const code = await bundlePrelude()
  await writeAtomically(file, code)
  return { code, digest }
}

/** The lock file stands for the libraries in the prelude: their content is fixed by its hashes. */
const digestOfSources = async (): Promise<string> => {
  const hash = createHash('sha256')
  const names = await readdir(webFolder, { recursive: true })
  const sources = names.filter((name) => name.endsWith('.ts')).sort()
  const files = [
    ...sources.map((name) => path.join(webFolder, name)),
    path.join(rootFolder, 'package-lock.json'),
  ]
  for (const file of [...files, fileURLToPath(import.meta.url)]) {
    const content = await readFile(file)
    hash.update(`${path.relative(rootFolder, file)}\0${content.length}\0`).update(content)
  }
  return hash.update(esbuildVersion).digest('hex')
}

const bundlePrelude = async (): Promise<string> => {
  const result = await build({
    entryPoints: [path.join(webFolder, 'prelude.ts')],
    // Names that the bundled libraries look for on the global object, where nothing is yet.
    inject: [path.join(webFolder, 'bundled-globals.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2024',
    minifySyntax: true,
    minifyWhitespace: true,
    // Names are kept, as stacks in the log of an integration show them.
    minifyIdentifiers: false,
    plugins: [tablesOnDemand, utf8OfThePlatform],
    legalComments: 'none',
    // V8 keeps the source of a snapshot: with a letter beyond Latin-1 each character would take two bytes.
    charset: 'ascii',
    logLevel: 'silent',
  })
  const code = result.outputFiles[0]?.text
  if (code === undefined) throw new Error('esbuild gave no prelude')
  // Strict throughout: `caller` and `arguments` of sloppy functions would show a script what is inside.
  return `"use strict";${code}`
}

/** The tables of the legacy encodings stay in the sandbox process until somebody decodes such a text. */
const tablesOnDemand: Plugin = {
  name: 'tables-on-demand',
  setup: ({ onLoad }) =>
    onLoad({ filter: /multi-byte\.encodings\.cjs$/ }, () => ({
      contents: "import { ask } from './ask.ts'\nexport default () => JSON.parse(ask('encoding-tables'))",
      resolveDir: webFolder,
    })),
}

/** The decoders of the library take their UTF-8 from where the platform takes its own. */
const utf8OfThePlatform: Plugin = {
  name: 'utf8-of-the-platform',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@exodus\/bytes\/utf8\.js$/ }, ({ importer }) =>
      importer.includes('node_modules')
        ? { path: path.join(webFolder, 'encoding/utf8-codec.ts') }
        : undefined,
    ),
}

const readIfThere = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Two processes may build at once: each writes a file of its own, and renaming is atomic. Flushed first: else a power
 * cut may leave the name without the text, and no script would ever load again.
 */
const writeAtomically = async (file: string, text: string): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true })
  const temporary = `${file}.${randomUUID()}.tmp`
  await writeFile(temporary, text, { flush: true })
  await rename(temporary, file)
}
