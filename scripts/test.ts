import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { findPostgres, startPostgres } from '../test/support/postgres-server.ts'
import { findImported } from './imports.ts'

/**
 * `make test`: everything on SQLite, and what depends on the database once more on PostgreSQL: on the one that
 * DATABASE_URL_TEST names, else on this machine's own programs, started for this run. ANNEX_CI=1 insists on it.
 * `make torture` (TORTURE=1): the files that have long rounds, with these.
 */

/** What depends on the database. */
const onBoth = [
  'db',
  'queue',
  'webhooks',
  'events',
  'flows',
  'api',
  'versions',
  'access',
  'content',
  'installations',
]
/** Of these, files about sandboxes, plugin folders or an SQLite file, and files whose statements others have as well. */
const onceOnly = [
  'access/setup',
  'api/answers',
  'api/home',
  'api/hostile-bodies',
  'api/hostile-requests',
  'api/hostile-texts',
  'api/metrics',
  'api/operations',
  'api/rate-limits',
  'api/rounded-numbers',
  'api/setting-options',
  'content/space-folder',
  'flows/consent',
  'flows/cut-off-events',
  'flows/declared-hosts',
  'flows/error-places',
  'flows/folder-to-answer',
  'flows/full-disk',
  'flows/held-events',
  'flows/killed-host',
  'flows/large-deliveries',
  'flows/leaving-visitors',
  'flows/locked-database',
  'flows/manifest-alone',
  'flows/moved-dispatches',
  'flows/oauth',
  'flows/own-api',
  'flows/plain-site',
  'flows/platform-scripts',
  'flows/power-cut',
  'flows/receipts',
  'flows/redirected-bodies',
  'flows/sends-first',
  'flows/slow-disk',
  'flows/stop-signals',
  'flows/stopped-work',
  'flows/streaming',
  'versions/load-plugins',
  'versions/reload-beside-requests',
  'versions/reloads',
  'versions/try-version',
  'versions/watched-folders',
]
/** It says where PostgreSQL is: a test that does not import it opens none. */
const testDatabase = resolve('test/support/test-database.ts')

const isTorture = process.env.TORTURE === '1'
/** Attacks that use all processors come before the others: two files at once, and the last one alone. */
const attacks = [
  { name: 'attacks', files: 'security/siege/*', atOnce: 2 },
  { name: 'attacks beside honest installations', files: 'soak/*', atOnce: 1 },
]
/** Files that wait for long: each has a process of its own, and begins first. */
const longWaits = [
  'flows/consent',
  'flows/full-disk',
  'flows/killed-host',
  'flows/several-hosts',
  'flows/three-hosts',
  'security/busy-machine',
  'security/shared-process',
  'security/suspension',
  'security/taken-over/taken-over',
]
/** The others share processes: to load Annex takes longer than most files. */
const filesOfProcess = isTorture ? 1 : 12
/** The others also wait for answers: one more than there are processors. With many more, sandboxes wait too long, as hosts come first. */
const filesAtOnce = availableParallelism() + 1

/** A test that imports it has a long round. */
const torture = resolve('test/support/torture.ts')
const longestTestMs = isTorture ? 3_600_000 : 300_000
const longestRunMs = (isTorture ? 120 : 40) * 60_000

const hint =
  'install PostgreSQL (Debian: apt-get install postgresql), or name a server with DATABASE_URL_TEST'

await using ends = new AsyncDisposableStack()
/** By a signal: nothing else is begun. */
let isStopped = false
/** Half of what a short test costs is to load Annex, and half of a start is to bundle it: both are done once a run. */
const builds = mkdtempSync(join(tmpdir(), 'annex-builds-'))
ends.defer(() => rmSync(builds, { recursive: true, force: true }))
const kept = {
  TEST_BUILDS_FOLDER: builds,
  // As bin/annex.js does.
  UV_THREADPOOL_SIZE: '16',
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/annex', import.meta.url)),
}
process.exitCode = await main()

async function main(): Promise<number> {
  const server = await findServer()
  if (server === undefined && process.env.ANNEX_CI === '1') {
    say(`no PostgreSQL on this machine, and ANNEX_CI=1 asks for one: ${hint}`)
    return 1
  }
  const first = attacks.map(({ name, files, atOnce }) => ({
    name: `SQLite, ${name}`,
    atOnce,
    files: globSync(`test/${files}.test.ts`).filter(isWanted),
  }))
  const alone = first.flatMap(({ files }) => files)
  // The benchmarks have packages of their own, some of which come with tests.
  const others = globSync('test/**/*.test.ts', { exclude: [...alone, '**/node_modules/**'] }).filter(isWanted)
  const again = globSync(
    onBoth.map((folder) => `test/${folder}/**/*.test.ts`),
    { exclude: onceOnly.map((name) => `test/${name}.test.ts`) },
  ).filter((file) => reachesFile(file, testDatabase) && isWanted(file))
  const groups = [
    ...inGroups(others, { name: 'SQLite', url: '' }),
    ...(server === undefined ? [] : inGroups(again, server)),
  ].toSorted((one, other) => Number(other.isLongWait) - Number(one.isLongWait))
  const databases = ['SQLite', ...(server === undefined ? [] : [server.name])].join(' and ')
  const codes: number[] = []
  for (const { name, atOnce, files } of first) codes.push(await run(name, atOnce, files))
  codes.push(await run(databases, filesAtOnce, groups.map(writeGroup)))
  if (isStopped) return 1
  const code = Math.max(...codes)
  say(`${databases}: ${code === 0 ? 'passed' : 'failed'}`)
  if (server === undefined)
    say(`PostgreSQL: skipped, there is none on this machine; to run it as well, ${hint}`)
  return code
}

/** Of `make torture`: whether the file has a long round. */
function isWanted(file: string): boolean {
  return !isTorture || reachesFile(file, torture)
}

/** A test that does not reach the file which says where PostgreSQL is cannot do anything on it. */
function reachesFile(file: string, target: string): boolean {
  return findImported([resolve(file)]).has(target)
}

type Server = { name: string; url: string }

/** Files that share a process, on one database. */
type Group = { files: string[]; database: Server; isLongWait: boolean }

function inGroups(files: readonly string[], database: Server): Group[] {
  const long = files.filter((file) => longWaits.some((name) => file === `test/${name}.test.ts`))
  const shared = files.filter((file) => !long.includes(file))
  const count = Math.ceil(shared.length / filesOfProcess)
  const groups = Array.from({ length: count }, (_, group) => shared.filter((_, at) => at % count === group))
  return [
    ...long.map((file) => ({ files: [file], database, isLongWait: true })),
    ...groups.map((some) => ({ files: some, database, isLongWait: false })),
  ]
}

/**
 * Each file is a suite with its path as the name: its hooks hold for its own tests.
 *
 * @param at the runner sorts files by path: the group begins in this turn
 * @returns a file that runs the group
 */
function writeGroup({ files, database: { name, url } }: Group, at: number): string {
  const suites = files.map((file) => {
    const title = url === '' ? file : `${file} on ${name}`
    const address = pathToFileURL(resolve(file)).href
    return `describe(${JSON.stringify(title)}, async () => void (await import(${JSON.stringify(address)})))`
  })
  const group = join(builds, `group-${String(at).padStart(3, '0')}.test.mjs`)
  const database = `process.env.DATABASE_URL_TEST = ${JSON.stringify(url)}`
  writeFileSync(group, ["import { describe } from 'node:test'", database, ...suites, ''].join('\n'))
  return group
}

async function findServer(): Promise<Server | undefined> {
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
async function run(name: string, atOnce: number, files: readonly string[]): Promise<number> {
  if (isStopped) return 1
  if (files.length === 0) return 0
  say(`on ${name}`)
  const child = spawn(
    process.execPath,
    // isolated-vm needs the first one: some tests hold isolates themselves.
    // A file whose test has failed may leave open what it had begun: the file ends here.
    [
      ...['--no-node-snapshot', '--test', '--test-force-exit', `--test-timeout=${longestTestMs}`],
      `--test-concurrency=${atOnce}`,
      ...files,
    ],
    // A process group of its own: a signal also ends the processes that tests have started.
    { stdio: 'inherit', detached: true, env: { ...process.env, ...kept, DATABASE_URL_TEST: '' } },
  )
  // The tests end first, and then what they run on.
  const stop = () => {
    isStopped = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  }
  const giveUp = setTimeout(() => {
    say(
      `on ${name}: ended after ${longestRunMs / 60_000} minutes; a file that printed nothing yet has not come to its end`,
    )
    stop()
  }, longestRunMs)
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  const [code] = await once(child, 'exit')
  clearTimeout(giveUp)
  process.off('SIGINT', stop)
  process.off('SIGTERM', stop)
  return code ?? 1
}

function say(text: string): void {
  console.log(`test: ${text}`)
}
