import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import type {
  Loader,
  OnLoadArgs,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  PartialMessage,
  Plugin,
  PluginBuild,
  TransformFailure,
} from 'esbuild'
import { messageOf } from '../errors.ts'
import { quoteValue } from '../manifest/message-text.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { isInside, readInside } from '../manifest/read-inside.ts'
import { refuse, refuseBuiltin, refuseMissing } from './explain-missing.ts'
import { findGlobImport } from './glob-imports.ts'
import { type LoadedFile, missingNamespace, throwInGuard, toThrowingModule } from './guarded-imports.ts'

/** The real paths of the folders that a build may read. */
export type Roots = { plugin: string; sdk: string; ownFiles?: OwnFiles | undefined }

/** The files that a build has read: the SHA-256 of each, in hex, by its path in the plugin folder or its name in the SDK. */
export type ReadFiles = { bytes: number; digests: Record<string, string> }

export const maxFileBytes = 5 * 1024 * 1024
const maxTotalBytes = 25 * 1024 * 1024

const loaders: Record<string, Loader> = {
  ts: 'ts',
  mts: 'ts',
  cts: 'ts',
  tsx: 'tsx',
  js: 'jsx',
  mjs: 'jsx',
  cjs: 'jsx',
  jsx: 'jsx',
  json: 'json',
  // As text: in a stylesheet esbuild follows url() and @import.
  txt: 'text',
  md: 'text',
  html: 'text',
  css: 'text',
  svg: 'text',
}
const attributeLoaders: Record<string, Loader> = { json: 'json', text: 'text', bytes: 'binary' }

const sdkModules: Record<string, string> = {
  '': 'index.ts',
  '/jsx-runtime': 'jsx-runtime.ts',
  '/jsx-dev-runtime': 'jsx-runtime.ts',
}

/** Modules of the SDK are named by import path: messages and bundles must not contain paths of the host. */
const sdkNamespace = 'sdk'
export const sdkName = '@annex/runtime'

/** Removes esbuild's namespace from modules of the SDK. */
export const withoutNamespace = (text: string): string =>
  text.replaceAll(`${sdkNamespace}:${sdkName}/`, `${sdkName}/`)

/** Marks this plugin's own calls of esbuild's resolver, which call the plugin again. */
const passThrough = Symbol('ask esbuild')

/**
 * Confines a build: the plugin folder imports only its own files and the SDK; the SDK imports only its own files. esbuild
 * resolves imports; this plugin checks the real path and reads the file.
 *
 * @param read gets each file that is read
 */
export function confineImports(roots: Roots, read: ReadFiles): Plugin {
  return {
    name: 'confine-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, async (args) => {
        const found = await resolveImport(args, build, roots)
        return found !== undefined && 'missing' in found ? throwInGuard(args, found.missing) : found
      })
      build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '', loader: 'js' }))
      build.onLoad({ filter: /.*/, namespace: missingNamespace }, ({ path, suffix, pluginData }) => ({
        contents: toThrowingModule(path, suffix, pluginData),
        loader: 'js',
      }))
      build.onLoad({ filter: /.*/, namespace: sdkNamespace }, (args) =>
        loadFile(args, { root: roots.sdk, path: relative(sdkName, args.path), name: args.path }, read),
      )
      build.onLoad({ filter: /.*/ }, (args) => {
        const path = relative(roots.plugin, args.path)
        return loadFile(args, { root: roots.plugin, path, name: path, ownFiles: roots.ownFiles }, read)
      })
    },
  }
}

/** `missing`: the import is refused, unless the script catches the error. */
async function resolveImport(
  args: OnResolveArgs,
  build: PluginBuild,
  roots: Roots,
): Promise<OnResolveResult | { missing: OnResolveResult } | undefined> {
  if (args.pluginData === passThrough) return undefined
  const { path, kind, importer, resolveDir, namespace } = args
  if (kind === 'entry-point') return undefined
  const shown = quoteValue(path)
  const sdk = /^@(?:annex|gitbook)\/runtime($|\/.*)/.exec(path)?.[1]
  if (sdk !== undefined) {
    const file = Object.hasOwn(sdkModules, sdk) ? sdkModules[sdk] : undefined
    return file === undefined ? refuse(`the SDK has no module ${shown}`) : toSdkModule(`${sdkName}/${file}`)
  }
  // The SDK imports its own files only, by full name.
  if (namespace === sdkNamespace) return toSdkModule(posix.join(posix.dirname(importer), path))
  if (path.startsWith('node:')) return { missing: refuseBuiltin(path) }
  if (kind === 'require-resolve')
    return { missing: refuse('require.resolve() does nothing in a sandbox', 'import the module') }
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(path)) {
    return refuse(`${shown} cannot be imported: only files are`, 'install the package in the plugin folder')
  }
  const root = roots.plugin
  if (isAbsolute(path) || (path.startsWith('.') && !isInside(root, resolve(resolveDir, path)))) {
    return refuse(`${shown} lies outside the plugin folder`, 'copy the file into the plugin folder')
  }
  const found = await build.resolve(path, {
    kind,
    importer,
    resolveDir,
    namespace,
    with: args.with,
    pluginData: passThrough,
  })
  if (found.errors.length > 0 || found.external) return { missing: await refuseMissing(path, root) }
  // A package.json may exclude a module from browsers.
  if (found.namespace !== 'file') return { path: found.path, namespace: 'empty' }
  const real = await realpath(found.path).catch(() => undefined)
  if (real === undefined || !isInside(root, real)) {
    // Found in a node_modules above the plugin folder: that of Annex, for instance.
    if (isOfAnother(root, path, found.path)) return { missing: await refuseMissing(path, root) }
    return refuse(
      `${shown} leads outside the plugin folder`,
      'the packages of an integration lie in its own node_modules',
    )
  }
  if (pickLoader({ path: real, with: args.with }) === undefined) return { missing: refuseKind(real) }
  // esbuild resolves it again: only its own results respect "type" of package.json.
  return undefined
}

const toSdkModule = (path: string): OnResolveResult => ({ path, namespace: sdkNamespace })

/** True when a package was found in a `node_modules` outside the plugin folder. */
function isOfAnother(root: string, path: string, found: string): boolean {
  const name = path.split('/', path.startsWith('@') ? 2 : 1).join(sep)
  const at = found.lastIndexOf(join(sep, 'node_modules', name, sep))
  return !path.startsWith('.') && at >= 0 && !isInside(root, found.slice(0, at))
}

const refuseKind = (path: string) =>
  refuse(
    `${quoteValue(basename(path))} cannot be imported`,
    `allowed: .${Object.keys(loaders).join(', .')}, or { type: "text" } and { type: "bytes" }`,
  )

async function loadFile(
  args: OnLoadArgs,
  {
    root,
    path,
    name,
    ownFiles,
  }: { root: string; path: string; name: string; ownFiles?: OwnFiles | undefined },
  read: ReadFiles,
): Promise<OnLoadResult> {
  const reading = await readInside(root, path, maxFileBytes, ownFiles)
  if ('problem' in reading) return refuse(`${quoteValue(basename(path))} ${reading.problem}`)
  read.bytes += reading.bytes.length
  if (read.bytes > maxTotalBytes) return refuse(`the files to bundle have more than ${maxTotalBytes} bytes`)
  read.digests[name] = createHash('sha256').update(reading.bytes).digest('hex')
  const loader = pickLoader(args)
  if (loader === undefined) return refuseKind(args.path)
  const resolveDir = dirname(join(root, path))
  if (!isCode(loader)) return { contents: reading.bytes, loader, resolveDir }
  const code = withoutFileReferences(reading.bytes.toString('utf8'))
  try {
    const glob = await findGlobImport(code, loader)
    const file: LoadedFile = { code, loader }
    if (glob === undefined) return { contents: code, loader, resolveDir, pluginData: file }
    const where = quoteValue(path)
    const text = `${glob} in ${where}: the path must be known when the script is bundled`
    return refuse(text, 'import each file by name')
  } catch (error) {
    // Attack: a syntax error must not hide an import from the check above.
    return { errors: toSyntaxErrors(error, path) }
  }
}

function toSyntaxErrors(error: unknown, file: string): PartialMessage[] {
  const { errors = [] } = error as Partial<TransformFailure>
  if (errors.length === 0) return [{ text: messageOf(error) }]
  return errors.map(({ text, location, notes }) => ({
    text,
    notes,
    location: location === null ? null : { ...location, file },
  }))
}

const isCode = (loader: Loader): boolean => loader === 'ts' || loader === 'tsx' || loader === 'jsx'

function pickLoader({ path, with: attributes }: Pick<OnLoadArgs, 'path' | 'with'>): Loader | undefined {
  const type = attributes.type
  if (type !== undefined) return Object.hasOwn(attributeLoaders, type) ? attributeLoaders[type] : undefined
  if (path.endsWith('.raw.js')) return 'text'
  const extension = path.slice(path.lastIndexOf('.') + 1)
  return Object.hasOwn(loaders, extension) ? loaders[extension] : undefined
}

/**
 * Attack: esbuild reads any file that a `sourceMappingURL` comment names. A device would block it, and the text of any
 * source map on the machine would appear in ours. A space breaks the comment. A hashbang is invalid within the wrapped
 * bundle.
 */
const withoutFileReferences = (code: string): string =>
  code.replace(/([#@]\s*)sourceMappingURL=/g, '$1sourceMappingURL =').replace(/^(\ufeff?)#!/, '$1//')
