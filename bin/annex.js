#!/usr/bin/env node
// Plain JavaScript on purpose: this is the one file that an older Node of the machine may meet. It hands
// over to the Node that the project pins through npm, whatever started it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const main = `${root}host/cli/main.ts`
const pinned = `${root}node_modules/node/bin/node`
const major = Number(process.versions.node.split('.')[0])

if (major >= 26) {
  await import(main)
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
  })
} else {
  process.stderr.write(
    'annex: the dependencies are not installed. Run `make run`, or `npm install`, in this folder.\n',
  )
  process.exitCode = 1
}
