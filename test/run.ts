import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { readTreeCpu } from './bench/measure/cpu-time.ts'
import { reportCpu } from './support/cpu-report.ts'
import { findPostgres, startPostgres } from './support/postgres-server.ts'
import { groupFiles, type Server, type TestFile, type TestGroup, writeGroup } from './support/test-groups.ts'
import { readTestHeader, type Tier, tiers } from './support/test-header.ts'

/**
 * `make test`, `make test-console`, `make test-wall` and `make torture`: the test files of one tier. Each file says at its top which tier and
 * databases it is for (`test-header.ts`); without such a line it belongs to `make test`, on SQLite. PostgreSQL is the server of
 * DATABASE_URL_TEST, else this machine's own programs, started for this run. ANNEX_CI=1 insists on it.
 * `node test/run.ts TIER PATH...` runs the files below some paths.
 */

const plans: Record<
  Tier,
  { filesOfProcess: number; processes: number; testMinutes: number; minutes: number }
> = {
  // To load Annex takes longer than most files: they share processes. Tests also wait for answers: one process more than
  // there are processors. With many more, sandboxes wait too long.
  test: { filesOfProcess: 24, processes: availableParallelism() + 1, testMinutes: 5, minutes: 40 },
  // A browser serves all files of its process, and takes a processor with them.
  console: { filesOfProcess: 6, processes: 2, testMinutes: 2, minutes: 10 },
  // Attacks that use all processors, kills and full disks: one file after the other.
  wall: { filesOfProcess: 1, processes: 1, testMinutes: 5, minutes: 40 },
  torture: { filesOfProcess: 1, processes: 1, testMinutes: 60, minutes: 240 },
}
/** CPU seconds of a file in `make test`, beside other programs, too. A file that needs more says so, and why. */
const budgetSeconds = 30

const hint =
  'install PostgreSQL (Debian: apt-get install postgresql), or name a server with DATABASE_URL_TEST'

await using ends = new AsyncDisposableStack()
/** By a signal: nothing else is begun. */
let isStopped = false
/** Half of what a short test costs is to load Annex, and half of a start is to bundle it: both are done once a run. */
const builds = mkdtempSync(join(tmpdir(), 'annex-builds-'))
/** Of databases on PostgreSQL: the first test that needs one makes it. */
const template = `annex_template_${randomUUID().replaceAll('-', '')}`
ends.defer(() => rmSync(builds, { recursive: true, force: true }))
const [, , name = 'test', ...paths] = process.argv
process.exitCode = await main()

async function main(): Promise<number> {
  const tier = tiers.find((one) => one === name)
  if (tier === undefined) {
    say(`there is no tier "${name}": write one of ${tiers.join(', ')}`)
    return 2
  }
  const files = findTests()
  if (files === undefined) return 2
  const chosen = files
    .filter(({ header }) => header.tiers.includes(tier))
    .filter(({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)))
  if (chosen.length === 0) {
    say(`no test file of the tier ${tier} stands below ${paths.join(', ') || 'test/'}`)
    return 2
  }
  const needsServer = chosen.some(({ header }) => header.databases.includes('PostgreSQL'))
  const server = needsServer ? await findServer() : undefined
  if (needsServer && server === undefined && process.env.ANNEX_CI === '1') {
    say(`no PostgreSQL on this machine, and ANNEX_CI=1 asks for one: ${hint}`)
    return 1
  }
  const { filesOfProcess } = plans[tier]
  // Files on PostgreSQL wait more than they compute: others run beside them.
  const groups = [
    ...(server === undefined ? [] : groupFiles(chosen, 'PostgreSQL', server, filesOfProcess)),
    ...groupFiles(chosen, 'SQLite', { name: 'SQLite', url: '' }, filesOfProcess),
  ]
  const databases = ['SQLite', ...(server === undefined ? [] : [server.name])].join(' and ')
  say(`tier ${tier}: ${chosen.length} files on ${databases}`)
  const code = await run(tier, groups)
  if (isStopped) return 1
  const budgets = new Map(files.map(({ file, header }) => [file, header.cpuSeconds ?? budgetSeconds]))
  const { lines, overBudget } = reportCpu(builds, (file) => budgets.get(file) ?? budgetSeconds)
  for (const line of lines) say(line)
  if (lines.length > 0 && server?.pid !== undefined)
    say(`${(readTreeCpu(server.pid) ?? 0).toFixed(0).padStart(5)}    PostgreSQL, for all of them`)
  const isOver = tier === 'test' && overBudget.length > 0
  if (isOver) for (const line of overBudget) say(line)
  say(`${databases}: ${code === 0 && !isOver ? 'passed' : 'failed'}`)
  if (needsServer && server === undefined)
    say(`PostgreSQL: skipped, there is none on this machine; to run it as well, ${hint}`)
  return isOver ? Math.max(code, 1) : code
}

/** @returns undefined when a file's header cannot be read */
function findTests(): TestFile[] | undefined {
  try {
    // The benchmarks have packages of their own, some of which come with tests.
    return globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] })
      .toSorted()
      .map((file) => ({ file, header: readTestHeader(file) }))
  } catch (error) {
    say((error as Error).message)
    return undefined
  }
}

/** `pid`: of one that this run has started. */
async function findServer(): Promise<(Server & { pid?: number }) | undefined> {
  const named = process.env.DATABASE_URL_TEST ?? ''
  if (named !== '') {
    ends.defer(async () => void (await askServer(named, `drop database if exists ${template} with (force)`)))
    return { name: `PostgreSQL ${await readVersion(named)} of DATABASE_URL_TEST`, url: named }
  }
  const bin = findPostgres()
  if (bin === undefined) return undefined
  const { url, pid, close } = await startPostgres(bin)
  ends.defer(close)
  return { name: `PostgreSQL ${await readVersion(url)} of ${bin}`, url, pid }
}

async function readVersion(url: string): Promise<string> {
  const [row] = await askServer(url, 'show server_version')
  return String(row?.server_version).replace(/ .*/, '')
}

async function askServer(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

/** @returns the exit code */
async function run(tier: Tier, groups: readonly TestGroup[]): Promise<number> {
  if (isStopped || groups.length === 0) return isStopped ? 1 : 0
  const { processes, testMinutes, minutes } = plans[tier]
  const child = spawn(
    process.execPath,
    // isolated-vm needs the first one: some tests hold isolates themselves.
    // A file whose test has failed may leave open what it had begun: the file ends here.
    [
      ...['--no-node-snapshot', '--test', '--test-force-exit', `--test-timeout=${testMinutes * 60_000}`],
      `--test-concurrency=${processes}`,
      ...groups.map((group, at) => writeGroup(builds, group, at)),
    ],
    // A process group of its own: a signal also ends the processes that tests have started.
    { stdio: 'inherit', detached: true, env: { ...process.env, ...environmentOf(tier) } },
  )
  // The tests end first, and then what they run on.
  const stop = () => {
    isStopped = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  }
  const giveUp = setTimeout(() => {
    say(`ended after ${minutes} minutes; a file that printed nothing yet has not come to its end`)
    stop()
  }, minutes * 60_000)
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  const [code] = await once(child, 'exit')
  clearTimeout(giveUp)
  process.off('SIGINT', stop)
  process.off('SIGTERM', stop)
  return code ?? 1
}

function environmentOf(tier: Tier): Record<string, string> {
  return {
    TEST_BUILDS_FOLDER: builds,
    TEST_TEMPLATE_DATABASE: template,
    TORTURE: tier === 'torture' ? '1' : '',
    // As bin/annex.js does.
    UV_THREADPOOL_SIZE: '16',
    NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/annex', import.meta.url)),
    DATABASE_URL_TEST: '',
  }
}

function say(text: string): void {
  console.log(`test: ${text}`)
}
