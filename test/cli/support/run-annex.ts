import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildPrelude } from '../../../host/bundle/build-runtime.ts'
import { runCommand } from '../../../host/cli/run-command.ts'
import type { Surroundings } from '../../../host/cli/surroundings.ts'
import type { Settings } from '../../../host/config/load-settings.ts'
import { createTryLoad } from '../../../host/sandbox/try-load.ts'
import { limitsOf } from '../../../host/start/start-sandboxes.ts'
import { buildsFolder } from '../../support/kept-builds.ts'
import { createStartInProcess } from '../../support/sandboxes-in-process.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const bin = join(root, 'bin', 'annex.js')

/** The plugins that come with Annex, in a folder of their own: `plugins/` may hold others, which are not tested here. */
function copyShippedPlugins(): string {
  const folder = mkdtempSync(join(tmpdir(), 'annex-plugins-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['echo', 'handbook-stats', 'webhook']) {
    cpSync(join(root, 'plugins', name), join(folder, name), { recursive: true })
  }
  return folder
}

/** Without the settings of the machine: its `.env` may name a real database. */
export const cleanEnvironment = {
  PATH: process.env.PATH,
  PLUGINS_DIR: copyShippedPlugins(),
  HANDBOOK_STATS_REPORT_TOKEN: 'a-token',
}

/** As npx runs a command: hints then say `npx annex`. */
const byNpx = { npm_command: 'exec' }

export type Ran = { code: number | null; stdout: string; stderr: string }

type Options = {
  env?: Record<string, string>
  /** A folder without a `.env`, when it is not given. */
  cwd?: string
}

/**
 * Runs a command in this process, which costs a tenth of a process of its own. `check` loads scripts here, too. Not for `serve` and `demo`, which listen for the
 * signals of their process, nor for what a process has alone: its exit, its terminal, the PATH of the programs that it starts.
 */
export async function runAnnex(args: string[], { env = {}, cwd = tmpdir() }: Options = {}): Promise<Ran> {
  const written = { stdout: '', stderr: '' }
  const collect = (name: keyof typeof written) => ({
    write(piece: string | Uint8Array) {
      written[name] += String(piece)
      return true
    },
  })
  const surroundings: Surroundings = {
    openTrials,
    argv: [process.execPath, bin, ...args],
    env: { ...cleanEnvironment, ...byNpx, ...env },
    stdin: Readable.from([]),
    stdout: collect('stdout'),
    stderr: collect('stderr'),
  }
  const code = await inFolder(cwd, () => runCommand(surroundings))
  return { code, ...written }
}

/** As a sandbox process loads scripts for `check`, in this process. */
async function openTrials(settings: Settings) {
  const { code } = await buildPrelude({ cacheFolder: buildsFolder })
  return createTryLoad({
    platform: { text: code },
    limits: limitsOf(settings),
    start: createStartInProcess(),
  })
}

/** The folder of this process is that of the commands that run now. */
let occupied:
  | { folder: string; commands: number; before: string; left: PromiseWithResolvers<void> }
  | undefined

/** Commands in the same folder run beside each other. Others wait: a process has one folder. */
async function inFolder<T>(folder: string, run: () => Promise<T>): Promise<T> {
  while (occupied !== undefined && occupied.folder !== folder) await occupied.left.promise
  occupied ??= { folder, commands: 0, before: process.cwd(), left: Promise.withResolvers() }
  const now = occupied
  now.commands += 1
  process.chdir(folder)
  try {
    return await run()
  } finally {
    now.commands -= 1
    if (now.commands === 0) {
      process.chdir(now.before)
      occupied = undefined
      now.left.resolve()
    }
  }
}

/** Runs the real `annex` as a process of its own. */
export async function runProcess(args: string[], { env = {}, cwd = tmpdir() }: Options = {}): Promise<Ran> {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...cleanEnvironment, ...byNpx, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code, stdout, stderr }
}

/** A folder that is gone after the test. */
export async function makeFolder(context: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'annex-cli-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
