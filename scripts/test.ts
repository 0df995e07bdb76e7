import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import pg from 'pg'
import { findPostgres, startPostgres } from '../test/support/postgres-server.ts'

/**
 * `make test`: everything on SQLite, and then what depends on the database once more on PostgreSQL: on the one that
 * DATABASE_URL_TEST names, else on this machine's own programs, started for this run. ANNEX_CI=1 insists on it.
 */

/** What depends on the database. */
const onBoth = ['db', 'jobs', 'webhooks', 'events', 'flows', 'routes', 'plugins', 'versions']
/** Of these, what does not: it is about sandboxes, or about an SQLite file. */
const onceOnly = ['declared-hosts', 'error-places', 'killed-host', 'moved-dispatches', 'streaming']

/** What says how long something may take while somebody attacks: one file after the other. */
const timed = ['security', 'sandbox', 'soak']
/** The others wait for answers more than they work: as many at once as there are processors. */
const atOnce = `--test-concurrency=${availableParallelism()}`

const hint =
  'install PostgreSQL (Debian: apt-get install postgresql), or name a server with DATABASE_URL_TEST'

await using ends = new AsyncDisposableStack()
process.exitCode = await main()

async function main(): Promise<number> {
  const server = await findServer()
  if (server === undefined && process.env.ANNEX_CI === '1') {
    say(`no PostgreSQL on this machine, and ANNEX_CI=1 asks for one: ${hint}`)
    return 1
  }
  const alone = timed.map((folder) => `test/${folder}/**/*.test.ts`)
  const others = globSync('test/**/*.test.ts', { exclude: alone })
  const codes = [await run('SQLite', alone, ''), await run('SQLite', [atOnce, ...others], '')]
  const sqlite = Math.max(...codes)
  if (server === undefined) {
    report('SQLite', sqlite)
    say(`PostgreSQL: skipped, there is none on this machine; to run it as well, ${hint}`)
    return sqlite
  }
  const files = globSync(
    onBoth.map((folder) => `test/${folder}/**/*.test.ts`),
    { exclude: onceOnly.map((name) => `test/flows/${name}.test.ts`) },
  )
  const postgres = await run(server.name, [atOnce, ...files], server.url)
  report('SQLite', sqlite)
  report(server.name, postgres)
  return sqlite || postgres
}

async function findServer(): Promise<{ name: string; url: string } | undefined> {
  const named = process.env.DATABASE_URL_TEST ?? ''
  if (named !== '') return { name: `PostgreSQL ${await readVersion(named)} of DATABASE_URL_TEST`, url: named }
  const bin = findPostgres()
  if (bin === undefined) return undefined
  const { url, close } = await startPostgres(bin)
  ends.defer(close)
  return { name: `PostgreSQL ${await readVersion(url)} of ${bin}`, url }
}

async function readVersion(url: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query('show server_version')
  await client.end()
  return String(rows[0].server_version).replace(/ .*/, '')
}

/** @returns the exit code */
async function run(name: string, args: readonly string[], url: string): Promise<number> {
  say(`on ${name}`)
  const child = spawn(
    process.execPath,
    // isolated-vm needs the first one: some tests hold isolates themselves.
    ['--no-node-snapshot', '--test', '--test-timeout=120000', ...args],
    { stdio: 'inherit', env: { ...process.env, DATABASE_URL_TEST: url } },
  )
  // Ctrl+C reaches the tests as well: they end first, and then what they run on.
  const ignore = () => {}
  process.on('SIGINT', ignore)
  const forward = () => child.kill('SIGTERM')
  process.on('SIGTERM', forward)
  const [code] = await once(child, 'exit')
  process.off('SIGINT', ignore)
  process.off('SIGTERM', forward)
  return code ?? 1
}

function report(name: string, code: number): void {
  say(`${name}: ${code === 0 ? 'passed' : 'failed'}`)
}

function say(text: string): void {
  console.log(`test: ${text}`)
}
