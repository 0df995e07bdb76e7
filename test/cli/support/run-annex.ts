import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

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

/** Runs the real `annex` as a process of its own, in a folder without a `.env`. */
export async function runAnnex(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; signal?: AbortSignal } = {},
): Promise<Ran> {
  const { env = {}, cwd = tmpdir(), signal } = options
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...cleanEnvironment, ...byNpx, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
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
