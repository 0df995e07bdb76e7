import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '../../schemas/client.ts'
import { type Answered, request } from './annex.ts'

const program = fileURLToPath(new URL('../../bin/annex.js', import.meta.url))

export type Listening = {
  url: string
  atMs: number
  samples: { organization: string; site: string; space: string }
  /** A request with the operator's token. */
  api: (method: string, path: string, body?: unknown) => Promise<Answered>
  client: Client
}

/** `annex serve` as a process of its own, which may be killed at any moment: while it starts, too. */
export type HostProcess = {
  child: ChildProcess
  spawnedAtMs: number
  /** Rejects when the process ended before it listened. */
  listening: Promise<Listening>
  exited: Promise<number | null>
  /** SIGKILL: nothing of the process runs on. */
  kill: () => Promise<void>
  /** SIGTERM: stops it in order. */
  stop: () => Promise<void>
}

export type HostOptions = {
  dataDir: string
  pluginsDir: string
  /** Settings, and what else its environment needs. Nothing else gets in: no `.env`, no variables of this shell. */
  environment?: Record<string, string>
  /** In a process group of its own, as a terminal starts a program: what is sent to the group reaches all that is in it. */
  ownGroup?: boolean
}

/** Starts the host; `listening` says when it answers. */
export function startHost({ dataDir, pluginsDir, environment, ownGroup = false }: HostOptions): HostProcess {
  mkdirSync(dataDir, { recursive: true })
  const spawnedAtMs = Date.now()
  const child = spawn(process.execPath, [program, 'serve', '--json'], {
    cwd: dataDir,
    detached: ownGroup,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      PLUGINS_DIR: pluginsDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      EGRESS_ALLOW: '127.0.0.1',
      ...environment,
    },
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-4_000)
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const listening = Promise.race([
    firstLine(child.stdout as Readable),
    exited.then((code) => Promise.reject(new Error(`annex ended with ${code} at its start:\n${said}`))),
  ]).then((line) => toListening(line, dataDir))
  // A test that kills the host at its start does not await this.
  listening.catch(() => {})
  const end = (signal: NodeJS.Signals) => async () => {
    child.kill(signal)
    await exited
  }
  return { child, spawnedAtMs, listening, exited, kill: end('SIGKILL'), stop: end('SIGTERM') }
}

async function firstLine(stream: Readable): Promise<string> {
  const lines = createInterface({ input: stream })
  // A line that does not come is told by the process's end.
  const [line] = await once(lines, 'line')
  return String(line)
}

function toListening(line: string, dataDir: string): Listening {
  const { url, samples } = JSON.parse(line)
  const token = readFileSync(join(dataDir, 'cli.token'), 'utf8').trim()
  return {
    url,
    atMs: Date.now(),
    samples,
    client: createClient({ url, token }),
    api: (method, path, body) => request(url, method, path, body, token),
  }
}
