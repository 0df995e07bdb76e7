import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { type Build, keepBuild } from './build-cache.ts'

const webFolder = fileURLToPath(new URL('../../runtime/web', import.meta.url))

const recipe = fileURLToPath(import.meta.url)

/**
 * The prelude of every isolate: `runtime/web` as one script, from `cacheFolder` if it lies there. Throws esbuild's error
 * where a source is broken.
 */
export const buildPrelude = ({ cacheFolder }: { cacheFolder: string }): Promise<Build> =>
  keepBuild({ name: 'prelude', cacheFolder, recipe, build: bundlePrelude })

/** As `buildPrelude`, whatever lies anywhere. */
export const bundlePrelude = async (): Promise<string> => {
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
