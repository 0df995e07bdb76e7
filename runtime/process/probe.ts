/**
 * A process that tries to break out. The host starts it as it starts a sandbox process. It writes its report to fd 3 as one line
 * of JSON, and waits to be killed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Worker } from 'node:worker_threads'
import type ivm from 'isolated-vm'

/** `held` when the wall held; `saw` is the result of the attempt. */
export type Attempt = { what: string; held: boolean; saw: string }
export type ProbeReport = { node: string; isolate: Attempt[]; process: Attempt[]; interfaces: string[] }

const host = new Socket({ fd: 3, readable: true, writable: true })
host.on('close', () => process.kill(process.pid, 'SIGKILL'))
host.on('error', () => process.kill(process.pid, 'SIGKILL'))
host.once('data', async (chunk) => {
  const report: ProbeReport = {
    node: process.version,
    isolate: tryFromIsolate(),
    process: await tryFromProcess(Number(chunk)),
    interfaces: Object.keys(networkInterfaces()),
  }
  host.write(`${JSON.stringify(report)}\n`)
})

function tryFromIsolate(): Attempt[] {
  const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')
  const isolate = new engine.Isolate({ memoryLimit: 16 })
  const context = isolate.createContextSync()
  const names = ['process', 'require', 'module', 'Buffer', 'fetch', 'setTimeout', 'WebSocket']
  const found = names.filter((name) => context.evalSync(`typeof globalThis.${name}`) !== 'undefined')
  const loop = attempt('run a loop without end', () => context.evalSync('for (;;) {}', { timeout: 20 }))
  isolate.dispose()
  return [
    {
      what: 'reach an object of Node',
      held: found.length === 0,
      saw: found.length === 0 ? 'none there' : found.join(', '),
    },
    loop,
  ]
}

async function tryFromProcess(port: number): Promise<Attempt[]> {
  const variables = Object.keys(process.env)
  return [
    attempt('read /etc/passwd', () => readFileSync('/etc/passwd')),
    attempt('write a file', () => writeFileSync('/tmp/annex-probe', '')),
    attempt('start a program', () => {
      const { error } = spawnSync(process.execPath, ['--version'])
      if (error !== undefined) throw error
    }),
    attempt('start a thread', () => void new Worker('', { eval: true })),
    await tryToConnect(port),
    {
      what: 'read a variable of the environment',
      held: variables.length === 0,
      saw: variables.length === 0 ? 'none there' : variables.join(', '),
    },
  ]
}

function attempt(what: string, act: () => void): Attempt {
  try {
    act()
    return { what, held: false, saw: 'done' }
  } catch (error) {
    return { what, held: true, saw: told(error) }
  }
}

/** Connects to a port on which the host listens: a refused connection cannot be mistaken for a barrier. */
function tryToConnect(port: number): Promise<Attempt> {
  const what = 'open a connection to the host'
  return new Promise((resolve) => {
    const refused = (error: unknown) => resolve({ what, held: true, saw: told(error) })
    try {
      const socket = connect(port, '127.0.0.1', () => resolve({ what, held: false, saw: 'connected' }))
      socket.on('error', refused)
    } catch (error) {
      refused(error)
    }
  })
}

const told = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error))
