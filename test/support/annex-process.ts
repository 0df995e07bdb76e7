import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Json, until } from './annex.ts'

const program = fileURLToPath(new URL('../../bin/annex.js', import.meta.url))

export type AnnexProcess = { url: string; token: string; child: ChildProcess; exited: Promise<number | null> }

/** Starts `annex serve` as a process of its own, which a test may kill, and waits until its plugin folders are loaded. */
export async function startAnnexProcess(
  dataDir: string,
  pluginsDir: string,
  settings: Record<string, string> = {},
): Promise<AnnexProcess> {
  mkdirSync(pluginsDir, { recursive: true })
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PLUGINS_DIR: pluginsDir,
      EGRESS_ALLOW: '127.0.0.1',
      HANDBOOK_STATS_REPORT_TOKEN: 'report-token',
      ...settings,
    },
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const { url } = await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`annex ended with ${child.exitCode}:\n${errors}`)
      return readAnnouncement(dataDir, child.pid)
    },
    (found) => found.url !== '',
  )
  await until(
    async (): Promise<Json> => (await fetch(`${url}/readyz`)).json(),
    (found) => found.folders.ready,
  )
  return { url, token: readFileSync(join(dataDir, 'cli.token'), 'utf8').trim(), child, exited }
}

/** The address that the process itself has written down: a file of one that was killed does not count. */
function readAnnouncement(dataDir: string, pid: number | undefined): { url: string } {
  try {
    const found = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8'))
    return { url: found.pid === pid ? found.url : '' }
  } catch {
    return { url: '' }
  }
}
