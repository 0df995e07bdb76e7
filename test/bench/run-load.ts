import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const autocannon = fileURLToPath(new URL('../../node_modules/autocannon/autocannon.js', import.meta.url))

export type Load = { connections: number; seconds: number }

export type Measure = { requestsPerSecond: number; p50Ms: number; p99Ms: number }

const body = JSON.stringify({ type: 'ping', id: 'evt_1', text: 'hello' })

/**
 * POSTs a small JSON body for some seconds. The load comes from a process of its own, so that it takes no time from
 * the event loop of what it measures, nor of this program.
 *
 * @throws Error when any answer was not 2xx: a server that refuses is fast
 */
export async function runLoad(url: string, { connections, seconds }: Load): Promise<Measure> {
  const args = [autocannon, '--json', '--no-progress', '--method', 'POST', '--body', body]
  args.push('--headers', 'content-type=application/json')
  args.push('--connections', String(connections), '--duration', String(seconds), url)
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 })
  const { requests, latency, errors, timeouts, non2xx } = JSON.parse(stdout)
  if (errors + timeouts + non2xx > 0) {
    throw new Error(`${url}: ${errors} errors, ${timeouts} timeouts, ${non2xx} answers that are not 2xx`)
  }
  return { requestsPerSecond: requests.average, p50Ms: latency.p50, p99Ms: latency.p99 }
}
