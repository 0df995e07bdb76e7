import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sumUsed } from './cpu-time.ts'

const autocannon = fileURLToPath(new URL('../../../node_modules/autocannon/autocannon.js', import.meta.url))
const wrkScript = fileURLToPath(new URL('post.lua', import.meta.url))

export type Generator = 'wrk' | 'autocannon'
export type Load = { connections: number; seconds: number; generator: Generator }

/** Servers of several processes have a CPU time for each: `hostUs` is the first one's. Zero without /proc. */
export type Measure = {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** CPU time for one request, in µs: of the process that takes it, and of those behind it. */
  hostUs: number
  behindUs: number
  /** How much of one core the load itself took: near 1 it was what held the server up. */
  loadShare: number
}

type Answers = { requests: number; us: number; p50Us: number; p99Us: number; failed: number; refused: number }

/** wrk takes a tenth of the CPU time that autocannon takes, so that two cores are left for what is measured. */
export function findGenerator(): Generator {
  return spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon'
}

/**
 * POSTs a small JSON body for some seconds, to the paths in turn. The load comes from a process of its own, so that it
 * takes no time from the event loop of what it measures, nor of this program.
 *
 * @param server.behind the processes behind the first one
 * @throws Error when any answer was not 2xx: a server that refuses is fast
 */
export async function runLoad(
  server: { urls: string[]; pid?: number; behind?: () => number[] },
  load: Load,
): Promise<Measure> {
  const { urls, pid, behind = () => [] } = server
  const child = load.generator === 'wrk' ? startWrk(urls, load) : startAutocannon(urls, load)
  const [answers, cpu] = await Promise.all([
    load.generator === 'wrk' ? readWrk(child) : readAutocannon(child),
    measureCpu(
      { host: pid === undefined ? [] : [pid], behind: behind(), load: [child.pid ?? 0] },
      load.seconds,
    ),
  ])
  if (answers.failed + answers.refused > 0) {
    throw new Error(`${urls[0]}: ${answers.failed} failures, ${answers.refused} answers that are not 2xx`)
  }
  const requestsPerSecond = (answers.requests / answers.us) * 1e6
  return {
    requestsPerSecond,
    p50Ms: answers.p50Us / 1000,
    p99Ms: answers.p99Us / 1000,
    hostUs: (cpu.host / requestsPerSecond) * 1e6,
    behindUs: (cpu.behind / requestsPerSecond) * 1e6,
    loadShare: cpu.load,
  }
}

/** The share of one core that each group of processes has, in the middle of the load. */
async function measureCpu<K extends string>(
  groups: Record<K, number[]>,
  seconds: number,
): Promise<Record<K, number>> {
  const read = () =>
    Object.fromEntries(Object.entries<number[]>(groups).map(([name, pids]) => [name, sumUsed(pids).cpuMs]))
  await sleep(seconds * 100)
  const [before, startedAt] = [read(), performance.now()]
  await sleep(seconds * 800)
  const [after, ms] = [read(), performance.now() - startedAt]
  return Object.fromEntries(
    Object.keys(groups).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / ms]),
  ) as Record<K, number>
}

function startWrk(urls: string[], { connections, seconds }: Load): ChildProcess {
  const paths = urls.map((url) => new URL(url).pathname)
  const { origin } = new URL(urls[0] ?? '')
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', wrkScript]
  return spawn('wrk', [...options, origin, '--', ...paths], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function readWrk(child: ChildProcess): Promise<Answers> {
  const text = await readOutput(child)
  const line = text.trimEnd().split('\n').at(-1) ?? ''
  return JSON.parse(line)
}

function startAutocannon(urls: string[], { connections, seconds }: Load): ChildProcess {
  const options = [
    '--json',
    '--no-progress',
    '--method',
    'POST',
    '--headers',
    'content-type=application/json',
  ]
  options.push('--body', JSON.stringify({ type: 'ping', id: 'evt_1', text: 'hello' }))
  // It takes one address: the paths in turn need wrk.
  options.push('--connections', String(connections), '--duration', String(seconds), urls[0] ?? '')
  return spawn(process.execPath, [autocannon, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function readAutocannon(child: ChildProcess): Promise<Answers> {
  const { requests, latency, errors, timeouts, non2xx, duration } = JSON.parse(await readOutput(child))
  return {
    requests: requests.total,
    us: duration * 1e6,
    p50Us: latency.p50 * 1000,
    p99Us: latency.p99 * 1000,
    failed: errors + timeouts,
    refused: non2xx,
  }
}

async function readOutput(child: ChildProcess): Promise<string> {
  let output = ''
  let errors = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the load ended with ${code}: ${errors.slice(-1000)}`)
  return output
}
