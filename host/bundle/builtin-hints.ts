import { builtinModules } from 'node:module'

/** What a sandbox offers in place of a module of Node. */
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

/** The name of the Node module that an import asks for, without `node:`; nothing for other imports. */
export function toBuiltin(path: string): string | undefined {
  if (path.startsWith('node:')) return path.slice('node:'.length)
  return builtinModules.includes(path) ? path : undefined
}

export function hintForBuiltin(builtin: string): string {
  const [name = ''] = builtin.split('/')
  return Object.hasOwn(insteadOf, name)
    ? `${insteadOf[name]}`
    : 'use what the web platform offers: fetch(), crypto.subtle, URL, streams, timers'
}
