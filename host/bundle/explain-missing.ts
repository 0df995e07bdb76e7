import { existsSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative } from 'node:path'
import { quoteValue } from '../manifest/message-text.ts'
import { readInside } from '../manifest/read-inside.ts'

const maxTsconfigBytes = 256 * 1024

/** A refusal as a result for esbuild. */
export const refuse = (text: string, hint?: string) => ({ errors: [{ text, detail: hint }] })

export const refuseBuiltin = (path: string) =>
  refuse(
    `${quoteValue(path)} is a module of Node, which a sandbox does not have`,
    hintForBuiltin(toBuiltin(path) ?? path),
  )

/** Explains why an import is not found, with a hint. */
export async function refuseMissing(path: string, pluginRoot: string) {
  const shown = quoteValue(path)
  if (toBuiltin(path) !== undefined) return refuseBuiltin(path)
  if (path.startsWith('.')) return refuse(`there is no file ${shown}`)
  if (path.startsWith('#')) {
    return refuse(`"imports" in package.json leads to no file for ${shown}`, aliasHint)
  }
  if (await isAlias(path, pluginRoot)) {
    return refuse(`${shown} is no package, and "paths" of tsconfig.json are not read`, aliasHint)
  }
  // Only a name that is safe to paste into a shell.
  const name = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(path)?.[0] ?? ''
  if (name !== '' && existsSync(join(pluginRoot, 'node_modules', name))) {
    return refuse(
      `the package ${quoteValue(name)} is there, and has nothing to import as ${shown}`,
      'its package.json says under "exports" or "main" what it has',
    )
  }
  return refuse(
    `the package ${shown} is not installed in the plugin folder`,
    `install it there: npm install --prefix ${shellPath(pluginRoot)} ${name}`.trimEnd(),
  )
}

/** Without `--prefix`, npm uses the nearest package.json above, which is that of Annex. */
function shellPath(folder: string): string {
  const path = relative(process.cwd(), folder)
  return /^\w[\w./-]*$/.test(path) ? path : '.'
}

const aliasHint =
  'write a path that begins with ./ or ../, or give package.json such an entry: "imports": { "#lib/*": "./lib/*" }'

/** `@/lib/a` is no name of a package. Other aliases are keys of `paths` in tsconfig.json. */
async function isAlias(path: string, pluginRoot: string): Promise<boolean> {
  if (/^(?:@|~)\//.test(path)) return true
  const reading = await readInside(pluginRoot, 'tsconfig.json', maxTsconfigBytes, undefined)
  if ('problem' in reading) return false
  const keys = /"((?:[^"\\\n]|\\.)+)"\s*:\s*\[/g
  return [...reading.bytes.toString('utf8').matchAll(keys)].some(([, key = '']) =>
    key.endsWith('*') ? path.startsWith(key.slice(0, -1)) && key !== '*' : path === key,
  )
}

/** The substitute in a sandbox for each module of Node. */
const insteadOf: Record<string, string> = {
  fs: 'a sandbox has no files: import text with `import text from "./file.txt"`, and keep data in the configuration',
  http: 'use fetch()',
  https: 'use fetch()',
  http2: 'use fetch()',
  net: 'use fetch(): a sandbox has no sockets',
  tls: 'use fetch(): a sandbox has no sockets',
  crypto: 'use crypto.subtle, crypto.getRandomValues() and crypto.randomUUID()',
  buffer: 'use Uint8Array, TextEncoder, TextDecoder, atob() and btoa()',
  url: 'use URL and URLSearchParams',
  querystring: 'use URLSearchParams',
  stream: 'use ReadableStream, WritableStream and TransformStream',
  zlib: 'use CompressionStream and DecompressionStream',
  util: 'use TextEncoder, TextDecoder and structuredClone()',
  events: 'use EventTarget',
  timers: 'use setTimeout() and setInterval()',
  process: 'declare what you need under "secrets" in the manifest and read context.environment.secrets',
  child_process: 'a sandbox starts no processes',
  worker_threads: 'a sandbox has one thread; put long work into a task',
  perf_hooks: 'use performance.now()',
}

/** The name of the imported Node module, without `node:`. `undefined` for other imports. */
function toBuiltin(path: string): string | undefined {
  if (path.startsWith('node:')) return path.slice('node:'.length)
  return builtinModules.includes(path) ? path : undefined
}

function hintForBuiltin(builtin: string): string {
  const [name = ''] = builtin.split('/')
  return Object.hasOwn(insteadOf, name)
    ? `${insteadOf[name]}`
    : 'use what the web platform offers: fetch(), crypto.subtle, URL, streams, timers'
}
