// Starts with many plugin folders: the first one, which loads them all, and the second one, which finds nothing new.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTerminal } from '../../host/cli/terminal.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { descendantsOf, sumUsed } from './measure/cpu-time.ts'
import { readOptions } from './measure/read-options.ts'
import { describeMachine, printGoals } from './report.ts'
import { type AnnexFolders, createFolders } from './servers/start-annex.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { quick, folders: wanted = '' } = readOptions({
  quick: { type: 'boolean', default: false },
  folders: { type: 'string' },
})
const count = Number(wanted) || (quick ? 30 : 300)
/** The aims are for 300 folders, and 1,000. */
const part = count / 300
const mostMs = 600_000

type Start = { healthMs: number; readyMs: number; cpuMs: number }

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(folders.remove)
for (let n = 0; n < count; n += 1) writeFolder(folders.pluginsDir, n)
const first = await measureStart(folders)
const second = await measureStart(folders)

terminal.say(describeMachine().text)
printGoals(terminal, [
  { name: `${count} folders, first start`, value: first.readyMs / 1000, unit: 's', atMost: 90 * part },
  { name: 'CPU time of a folder', value: first.cpuMs / count, unit: 'ms', atMost: 600 },
  { name: '/healthz answers after', value: first.healthMs, unit: 'ms', atMost: 3_000 },
  { name: 'second start', value: second.readyMs / 1000, unit: 's', atMost: Math.max(1, part) * 3 },
  { name: 'CPU time of the second start', value: second.cpuMs / 1000, unit: 's', atMost: 3 * part + 2 },
])

/** Two of three receive calls, and one sends deliveries. No two have the same code or the same settings. */
function writeFolder(pluginsDir: string, n: number): void {
  const name = `folder-${n}`
  const plugin = join(root, 'plugins', n % 3 === 0 ? 'webhook' : 'echo')
  writePlugin(pluginsDir, name, {
    script: readFileSync(join(plugin, 'index.ts'), 'utf8').replace(
      /(export default )/,
      `export const number = ${n}\n\n$1`,
    ),
    files: {
      'service-manifest.yaml': readFileSync(join(plugin, 'service-manifest.yaml'), 'utf8')
        .replace(/^name: .*/m, `name: ${name}`)
        .replace(/webhook_url/g, `webhook_url_${n}`),
    },
  })
}

/** Starts Annex, waits until all folders are loaded, and stops it. CPU time is that of the host and of all its processes. */
async function measureStart({ dataDir, pluginsDir }: AnnexFolders): Promise<Start> {
  const startedAtMs = performance.now()
  const child = spawn(process.execPath, [join(root, 'bin', 'annex.js'), 'serve', '--json'], {
    cwd: dataDir,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PLUGINS_DIR: pluginsDir, PORT: '0' },
  })
  const pid = child.pid ?? 0
  let url = ''
  createInterface({ input: child.stderr }).on('line', (line) => {
    const { msg, url: found } = JSON.parse(line)
    if (msg === 'listening') url = found
  })
  try {
    await waitFor(startedAtMs, async () => url !== '' && (await fetch(`${url}/healthz`)).ok)
    const healthMs = performance.now() - startedAtMs
    await waitFor(startedAtMs, async () => (await fetch(`${url}/readyz`)).ok)
    const readyMs = performance.now() - startedAtMs
    const cpuMs = sumUsed([pid, ...descendantsOf(pid)]).cpuMs + readCpuOfEnded(pid)
    return { healthMs, readyMs, cpuMs }
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
}

async function waitFor(sinceMs: number, isThere: () => Promise<boolean>): Promise<void> {
  while (!(await isThere())) {
    if (performance.now() - sinceMs > mostMs) throw new Error(`not there after ${mostMs} ms`)
    await sleep(20)
  }
}

/** Linux adds the CPU time of processes that have ended to that of the process that started them. */
function readCpuOfEnded(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}
