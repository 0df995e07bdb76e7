#!/usr/bin/env node
// Plain JavaScript on purpose: this is the one file that an older Node of the machine may meet. It hands
// over to the Node that the project pins through npm, whatever started it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const main = `${root}host/cli/main.ts`
const pinned = `${root}node_modules/node/bin/node`
const major = Number(process.versions.node.split('.')[0])

// sqlite3 works in libuv's threads, five connections at most, beside files and compressed answers. Libuv reads this when its
// first thread is needed.
process.env.UV_THREADPOOL_SIZE ??= '16'

if (major >= 26) {
  // Compiled sources of an earlier start: half the work of a start. The cache lies in our own folder, as others may write to that
  // of temporary files. Node runs without it where the folder cannot be written. Threads find it by the environment alone.
  process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/annex`
  nodeModule.enableCompileCache()
  await import(main)
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
} else {
  process.stderr.write(
    'annex: the dependencies are not installed. Run `make run`, or `npm install`, in this folder.\n',
  )
  process.exitCode = 1
}
