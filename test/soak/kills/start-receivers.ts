import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Arrival, keyOf } from './arrival.ts'

const program = fileURLToPath(new URL('receiver-process.ts', import.meta.url))

export type Receivers = {
  urls: string[]
  paths: string[]
  /** In the order in which they came; a report is at most 10 ms late. */
  arrivals: Arrival[]
  /** Deliveries that were answered with 200. */
  taken: Set<string>
  close: () => Promise<void>
}

/**
 * Several URLs that take deliveries, in one process beside this. They refuse one in nine with 503 at first.
 *
 * @param slowestMs the longest that one takes to answer
 */
export async function startReceivers(count: number, seed: number, slowestMs = 25): Promise<Receivers> {
  const child = fork(program, [String(seed), String(slowestMs)], { stdio: 'inherit' })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const paths = Array.from({ length: count }, (_, index) => `/hooks/${index}`)
  const arrivals: Arrival[] = []
  const taken = new Set<string>()
  child.on('message', (message: { arrivals: Arrival[] }) => {
    for (const arrival of message.arrivals) {
      arrivals.push(arrival)
      if (arrival.status === 200) taken.add(keyOf(arrival))
    }
  })
  return {
    urls: paths.map((path) => `http://127.0.0.1:${port}${path}`),
    paths,
    arrivals,
    taken,
    close: () => end(child),
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
}
