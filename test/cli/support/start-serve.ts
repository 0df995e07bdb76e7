import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { shareBuilds } from '../../support/kept-builds.ts'
import { bin, cleanEnvironment, type Ran, runAnnex } from './run-annex.ts'

export type Served = {
  url: string
  setupToken: string
  dataDir: string
  /** Runs a command against this server, as the same user on the same machine. */
  annex: (...args: string[]) => Promise<Ran>
  /** Sends a signal, and waits for the end. */
  stop: (signal?: NodeJS.Signals) => Promise<{ code: number | null; stderr: string }>
  /** Stops it if it still runs, and removes its data. */
  close: () => Promise<void>
}

/** Starts the real `annex serve` on a free port, with the plugins that come with Annex. */
export async function startServe(env: Record<string, string> = {}): Promise<Served> {
  const dataDir = await mkdtemp(join(tmpdir(), 'annex-serve-'))
  shareBuilds(dataDir)
  const child = spawn(process.execPath, [bin, 'serve', '--json', '--port', '0'], {
    cwd: dataDir,
    env: { ...cleanEnvironment, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  const stderr = text(child.stderr)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    const [code] = await ended
    return { code, stderr: await stderr }
  }
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)),
    ended.then(async () => Promise.reject(new Error(`annex serve ended: ${await stderr}`))),
  ]).catch(async (error) => {
    await rm(dataDir, { recursive: true, force: true })
    throw error
  })
  const { url, setupToken } = JSON.parse(line)
  return {
    url,
    setupToken,
    dataDir,
    annex: (...args) => runAnnex(args, { env: { DATA_DIR: dataDir } }),
    stop,
    async close() {
      if (child.exitCode === null && child.signalCode === null) await stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
