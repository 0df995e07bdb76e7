import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type HostProcess, type Listening, startHost } from '../../support/host-process.ts'
import { createRandom } from '../hostile-load.ts'
import { keyOf } from '../kills/arrival.ts'
import { installFanOut, writeFanOut } from '../kills/fan-out.ts'
import { createPublisher, siteView } from '../kills/publisher.ts'
import { readHistory } from '../kills/read-history.ts'
import { startReceivers } from '../kills/start-receivers.ts'
import { createCutFolder } from './cut-folder.ts'
import type { Forgetting } from './cut-power.ts'
import { whyUndelivered } from './why-undelivered.ts'

export type PowerCuts = {
  seed: number
  cuts: number
  acknowledged: number
  /** Acknowledged, and not there after the cut. */
  lost: string[]
  /** Acknowledged and there, and not delivered in the end: with what the database says of it. */
  undelivered: string[]
  writes: number
  syncs: number
  undone: number
  /** What SQLite says of the file in the end: `ok`. */
  integrity: string
}

const patienceMs = 30_000

/**
 * Cuts the power again and again while events are published and delivered, the first time right after an integration
 * was installed, and starts the host on what the disk has kept. On the default settings, so on SQLite.
 */
export async function runPowerCuts(given: {
  rounds: number
  seed: number
  note: (text: string) => void
}): Promise<PowerCuts> {
  const { rounds, seed, note } = given
  await using ends = new AsyncDisposableStack()
  const random = createRandom(seed)
  const { folder, dataDir, environment, cut, remove } = createCutFolder()
  ends.defer(remove)
  const pluginsDir = join(folder, 'plugins')
  mkdirSync(pluginsDir)
  const receivers = await startReceivers(2, seed)
  ends.defer(receivers.close)
  writeFanOut(pluginsDir, receivers.urls)
  let host: HostProcess | undefined
  ends.defer(() => host?.kill())
  const start = () => {
    host = startHost({ dataDir, pluginsDir, environment })
    return host.listening
  }
  const totals = { writes: 0, syncs: 0, undone: 0 }
  const cutNow = async (forgetting: Forgetting) => {
    await host?.kill()
    const { writes, syncs, undone } = cut(forgetting)
    totals.writes += writes
    totals.syncs += syncs
    totals.undone += undone
  }

  const publisher = createPublisher(createRandom(seed + 1))
  const known = new Set<string>()
  const lost = new Set<string>()
  await installFanOut(await start())
  await cutNow({ mode: 'everything' })
  for (let round = 1; round <= rounds; round++) {
    const listening = await start()
    await checkKnown(listening)
    const publishing = publisher.publishTo(listening)
    await publisher.untilAcknowledged()
    await sleep(200 + random() * 1_300)
    await host?.kill()
    await publishing.stop()
    // In turn: the worst that may be, and something in between.
    await cutNow(round % 2 === 1 ? { mode: 'everything' } : { mode: 'some', random })
    if (round % 10 === 0) note(`${round} of ${rounds}: ${publisher.acknowledged.size} events acknowledged`)
  }
  const listening = await start()
  await checkKnown(listening)
  const owed = [...publisher.acknowledged.keys()].flatMap((eventId) =>
    receivers.paths.map((path) => keyOf({ eventId, path })),
  )
  const end = Date.now() + patienceMs
  const undelivered = () => owed.filter((key) => !receivers.taken.has(key))
  while (undelivered().length > 0 && Date.now() < end) await sleep(100)
  await readHistory(listening, patienceMs)
  await host?.stop()
  return {
    ...{ seed, cuts: rounds + 1, acknowledged: publisher.acknowledged.size, ...totals },
    lost: [...lost],
    undelivered: whyUndelivered(join(dataDir, 'annex.sqlite'), undelivered()),
    integrity: checkIntegrity(join(dataDir, 'annex.sqlite')),
  }

  /** An event that Annex has is a duplicate when it is published again; one that it has lost is not. */
  async function checkKnown({ api, samples }: Listening): Promise<void> {
    for (const eventId of publisher.acknowledged.keys()) {
      if (known.has(eventId)) continue
      known.add(eventId)
      const path = `/v1/events?organization=${samples.organization}`
      const { json } = await api('POST', path, siteView(eventId, samples.site))
      if (json.duplicate !== true) lost.add(eventId)
    }
  }
}

function checkIntegrity(file: string): string {
  const db = new DatabaseSync(file)
  try {
    return String(db.prepare('PRAGMA integrity_check').get()?.integrity_check)
  } finally {
    db.close()
  }
}
