import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf } from '../../bench/measure/cpu-time.ts'
import { type HostProcess, startHost } from '../../support/host-process.ts'
import { shareBuilds } from '../../support/kept-builds.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import { createRandom } from '../hostile-load.ts'
import { keyOf } from './arrival.ts'
import { type Ledger, type Life, toLedger } from './count-deliveries.ts'
import { installFanOut, writeFanOut } from './fan-out.ts'
import { createPublisher, type Publisher } from './publisher.ts'
import { readHistory } from './read-history.ts'
import { type Receivers, startReceivers } from './start-receivers.ts'

export type KillsOptions = {
  rounds: number
  seed: number
  note: (text: string) => void
  /** Hosts that share the database (PostgreSQL). One of them is killed, the others go on. Default 1. */
  hosts?: number
}

const receiverCount = 3
const attemptsAtOnce = 16
/** What can be in flight when the host is killed: Annex begins no more before what came of the first ones is stored. */
export const mostInFlight = 2 * attemptsAtOnce
/** Longer than any retry is away, and than a lease that runs out. */
const patienceMs = 150_000

/**
 * Kills the host, or one of its sandbox processes, at a random point of each round, and starts it again on the same
 * data, while events are published and delivered. In the end no work is pending, and everything is counted.
 */
export async function runKills({ rounds, seed, note, hosts = 1 }: KillsOptions): Promise<Ledger> {
  await using ends = new AsyncDisposableStack()
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'annex-kills-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const pluginsDir = join(folder, 'plugins')
  mkdirSync(pluginsDir)
  const database = await createTestDatabase()
  ends.defer(database.drop)
  const receivers = await startReceivers(receiverCount, seed)
  ends.defer(receivers.close)
  writeFanOut(pluginsDir, receivers.urls)

  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_CONCURRENCY: String(attemptsAtOnce),
    // Hosts that share a database have the same key. One alone makes its own, and must not lose it.
    ...(hosts > 1 && { SECRET_KEY: randomBytes(32).toString('base64') }),
  }
  const dataDir = join(folder, 'data')
  shareBuilds(dataDir)
  let host: HostProcess | undefined
  ends.defer(() => host?.kill())
  const start = () => {
    host = startHost({ dataDir, pluginsDir, environment })
    return host
  }
  const publisher = createPublisher(createRandom(seed + 1))
  const lives: Life[] = []

  // The first is killed as well, as soon as it has said that the integration is installed.
  await installFanOut(await start().listening)
  await host?.kill()
  const others = Array.from({ length: hosts - 1 }, (_, n) =>
    startHost({ dataDir: join(folder, `other-${n}`), pluginsDir, environment }),
  )
  ends.defer(async () => void (await Promise.all(others.map((other) => other.kill()))))
  const steady = (await Promise.all(others.map(({ listening }) => listening))).map(publisher.publishTo)
  for (let round = 1; round <= rounds; round++) {
    lives.push(await live(start(), toPlan(random, round), publisher, random))
    if (round % 20 === 0) note(`${round} of ${rounds}: ${publisher.acknowledged.size} events acknowledged`)
  }

  await Promise.all(steady.map(({ stop }) => stop()))

  const last = start()
  const listening = await last.listening
  lives.push({ spawnedAtMs: last.spawnedAtMs, listeningAtMs: listening.atMs, kill: 'none' })
  await untilTaken(() => countMissing(publisher.acknowledged.keys(), receivers))
  const history = await readHistory(listening, patienceMs)
  await Promise.all([last, ...others].map((running) => running.stop()))
  const { acknowledged, published, refused } = publisher
  const { arrivals, paths } = receivers
  return toLedger({ seed, lives, published, acknowledged, refused, paths, arrivals, history })
}

type Plan = { kill: 'host' | 'host while it starts' | 'sandbox process'; afterMs: number; thenMs: number }

/** The first host of all is killed while it works: something has to be there that may be lost. */
function toPlan(random: () => number, round: number): Plan {
  const chance = random()
  const afterMs = random() * 1_200
  const thenMs = random() * 1_200
  if (chance < 0.15 && round > 1) return { kill: 'host while it starts', afterMs: afterMs / 1.5, thenMs }
  return { kill: chance < 0.3 ? 'sandbox process' : 'host', afterMs, thenMs }
}

/** One life of the host, from its start to its kill. */
async function live(
  host: HostProcess,
  { kill, afterMs, thenMs }: Plan,
  publisher: Publisher,
  random: () => number,
): Promise<Life> {
  const { spawnedAtMs } = host
  if (kill === 'host while it starts') {
    await sleep(afterMs)
    const killedAtMs = Date.now()
    await host.kill()
    return { spawnedAtMs, killedAtMs, kill }
  }
  const listening = await host.listening
  const publishing = publisher.publishTo(listening)
  await publisher.untilAcknowledged()
  await sleep(afterMs)
  if (kill === 'sandbox process') {
    killOneOf(descendantsOf(host.child.pid ?? 0), random)
    await sleep(thenMs)
  }
  const killedAtMs = Date.now()
  await host.kill()
  await publishing.stop()
  return { spawnedAtMs, listeningAtMs: listening.atMs, killedAtMs, kill }
}

function killOneOf(pids: number[], random: () => number): void {
  const pid = pids[Math.floor(random() * pids.length)]
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended in the meantime.
  }
}

/** How many deliveries of what was acknowledged have not been taken yet. */
function countMissing(acknowledged: Iterable<string>, { paths, taken }: Receivers): number {
  let count = 0
  for (const eventId of acknowledged) {
    for (const path of paths) if (!taken.has(keyOf({ eventId, path }))) count += 1
  }
  return count
}

/** Waits as long as something comes. What does not is lost, and is counted. */
async function untilTaken(missing: () => number): Promise<void> {
  let before = missing()
  let lastChangeMs = Date.now()
  while (before > 0 && Date.now() - lastChangeMs < patienceMs) {
    await sleep(100)
    const now = missing()
    if (now !== before) lastChangeMs = Date.now()
    before = now
  }
}
