import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Starts a Redis of the benchmark's own on loopback, as durable as Annex: what it has answered is on the disk. It
 * rewrites no file and makes no snapshot meanwhile.
 *
 * @throws Error when `redis-server` is not on the PATH
 */
export async function startRedis(): Promise<{ url: string; close: () => Promise<void> }> {
  const { error } = spawnSync('redis-server', ['--version'])
  if (error !== undefined) throw error
  const folder = mkdtempSync(join(tmpdir(), 'annex-bench-redis-'))
  const port = await findPort()
  const settings = {
    bind: '127.0.0.1',
    port,
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
    'auto-aof-rewrite-percentage': 0,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn('/bin/sh', ['-c', script, 'sh', folder, 'redis-server', ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl+C is for the benchmark, which ends it.
    detached: true,
  })
  const exited = once(child, 'exit')
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      child.stdin.end()
      await exited
    },
  }
}

/** When our side of its input is closed, by whatever ends this process, Redis is ended and its folder removed. */
const script = `folder=$1; shift
"$@" & server=$!
read -r _
kill -TERM "$server"; wait "$server"
rm -rf "$folder"`

/** A free port: Redis cannot choose one and report it. */
async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
