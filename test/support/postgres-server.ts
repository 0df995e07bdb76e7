import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

export type PostgresServer = {
  url: string
  /** Of the process above the server's own. */
  pid: number | undefined
  /** The folder of its data. */
  data: string
  /** Ends it at once, connections and all; its data stays. */
  stop: () => Promise<void>
  /** Starts it again, on the same port. */
  start: () => Promise<void>
  /** Ends it and removes its data. */
  close: () => Promise<void>
}

type User = { uid?: number; gid?: number }

/** The folder of this machine's own PostgreSQL, of the newest where there are several. @returns undefined for none */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian) : []
  const folders = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(debian, version, 'bin'))
  return [askForFolder(), ...folders].find(
    (folder) =>
      folder !== undefined && existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
}

function askForFolder(): string | undefined {
  try {
    return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return undefined
  }
}

/**
 * Starts a PostgreSQL of one's own: in a temporary folder, on a free port of this machine alone, as an unprivileged user.
 * It ends with this process, however that ends.
 *
 * @param bin the folder of its programs (`findPostgres`)
 * @param options.fsync whether a commit is on the disk when it returns. Default no: a power cut is none of the tests,
 *   and without it they take a fraction of the time.
 */
export async function startPostgres(bin: string, { fsync = false } = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-postgres-'))
  const user = unprivileged()
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  try {
    execFileSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      // Not from here: it may be a folder that the user must not read.
      { ...user, cwd: folder, stdio: 'pipe' },
    )
    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    let running = await run(bin, { folder, data, port, url, user, fsync })
    const stop = () => running.end({ keep: true })
    return {
      url,
      pid: running.pid,
      data,
      stop,
      async start() {
        running = await run(bin, { folder, data, port, url, user, fsync })
      },
      async close() {
        await running.end({ keep: false })
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** When our side of its input is closed, by whatever ends this process, the server is ended and its folder removed. */
const script = `folder=$1; shift
"$@" & server=$!
read -r keep
kill -INT "$server"; wait "$server"
[ -n "$keep" ] || rm -rf "$folder"`

type Given = { folder: string; data: string; port: number; url: string; user: User; fsync: boolean }

async function run(bin: string, { folder, data, port, url, user, fsync }: Given) {
  const settings = [
    `fsync=${fsync ? 'on' : 'off'}`,
    'max_connections=300',
    'unix_socket_directories=',
    'listen_addresses=127.0.0.1',
  ]
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const child = spawn('/bin/sh', ['-c', script, 'sh', folder, join(bin, 'postgres'), ...args], {
    ...user,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
    // Ctrl+C is for the tests: they end it.
    detached: true,
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000)
  })
  child.stdin.on('error', () => {})
  const exited = once(child, 'exit')
  const end = async ({ keep }: { keep: boolean }) => {
    // Now it is waited for: without this the process might end first, for want of anything to wait for.
    child.ref()
    child.stdin.end(keep ? 'keep\n' : '')
    await exited
  }
  for (let tries = 0; !(await answers(url)); tries++) {
    if (tries === 200 || child.exitCode !== null) {
      await end({ keep: false })
      throw new Error(`PostgreSQL does not start:\n${said}`)
    }
    await wait(50)
  }
  // A test that forgets to close the server can still end.
  child.unref()
  for (const stream of [child.stdin, child.stderr]) (stream as unknown as { unref: () => void }).unref()
  return { end, pid: child.pid }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): User {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('There is no user postgres or nobody to run PostgreSQL as.')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
