import { parentPort, workerData } from 'node:worker_threads'
import { Pool } from 'undici'

/** Started with `rate: Infinity`: each connection asks again at once. */
export type RefusedLoad = { url: string; headers: Record<string, string>; connections: number; rate: number }

/** The answers that the load got, by status. */
export type Refused = { seconds: number; answers: Record<number, number> }

// Sends GET requests until it is told to stop, in a thread of its own.
const { url, headers, connections, rate }: RefusedLoad = workerData
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections, pipelining: 1 })
const answers: Record<number, number> = {}
const startedAt = performance.now()
let [sent, running, isOver] = [0, 0, false]

const timer = setInterval(sendDue, 1)
sendDue()
parentPort?.once('message', () => {
  isOver = true
  clearInterval(timer)
  const refused: Refused = { seconds: (performance.now() - startedAt) / 1_000, answers }
  parentPort?.postMessage(refused)
  void pool.destroy()
})

function sendDue(): void {
  const due = ((performance.now() - startedAt) * rate) / 1_000
  while (!isOver && running < connections && sent < due) void send()
}

async function send(): Promise<void> {
  sent += 1
  running += 1
  const { statusCode, body } = await pool.request({ path: pathname, method: 'GET', headers })
  await body.dump()
  running -= 1
  answers[statusCode] = (answers[statusCode] ?? 0) + 1
  if (rate === Number.POSITIVE_INFINITY) sendDue()
}
