import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installFanOut, writeFanOut } from '../soak/kills/fan-out.ts'
import { siteView } from '../soak/kills/publisher.ts'
import { type Answered, until } from './annex.ts'
import { type HostProcess, type Listening, startHost } from './host-process.ts'
import { shareBuilds } from './kept-builds.ts'
import { createMachineFaults, type MachineFaults } from './machine-faults.ts'
import { type Answer, startReceiver } from './receiver.ts'

export type HostUnderFaults = {
  /** The one that runs now. */
  readonly host: HostProcess
  readonly listening: Listening
  dataDir: string
  receiver: Awaited<ReturnType<typeof startReceiver>>
  publish: (eventId: string) => Promise<Answered>
  /** Fails unless all of these events reach the receiver, and no delivery is pending. */
  untilDelivered: (eventIds: string[]) => Promise<void>
  /** Kills it, and starts another in its place. */
  restart: () => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

const patienceSeconds = 30

/**
 * A host in a process of its own, with an integration that queues a delivery of each event to one receiver.
 *
 * @param environmentIn what the process gets besides, from a test's folder and the data folder in it
 */
export async function startHostUnderFaults(
  environmentIn: (folder: string, dataDir: string) => Record<string, string>,
  ...answers: Answer[]
): Promise<HostUnderFaults> {
  const ends = new AsyncDisposableStack()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'annex-faults-')))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const pluginsDir = join(folder, 'plugins')
  mkdirSync(pluginsDir)
  const receiver = await startReceiver(...answers)
  ends.defer(receiver.close)
  writeFanOut(pluginsDir, [receiver.url])
  const environment = environmentIn(folder, dataDir)
  shareBuilds(dataDir)
  let host = startHost({ dataDir, pluginsDir, environment })
  ends.defer(() => host.kill())
  let listening = await host.listening.catch(async (error) => {
    await ends.disposeAsync()
    throw error
  })
  await installFanOut(listening)
  const { samples } = listening
  const api: Listening['api'] = (...request) => listening.api(...request)
  const isThere = (eventId: string) => receiver.received.some(({ body }) => body.includes(eventId))
  return {
    get host() {
      return host
    },
    get listening() {
      return listening
    },
    ...{ dataDir, receiver },
    async restart() {
      await host.kill()
      host = startHost({ dataDir, pluginsDir, environment })
      listening = await host.listening
    },
    publish: (eventId) =>
      api('POST', `/v1/events?organization=${samples.organization}`, siteView(eventId, samples.site)),
    async untilDelivered(eventIds) {
      await until(
        async () => eventIds.filter((eventId) => !isThere(eventId)),
        (absent) => absent.length === 0,
        patienceSeconds,
      )
      await until(
        async () => (await api('GET', '/v1/deliveries?state=pending')).json.items.length,
        (owed) => owed === 0,
        patienceSeconds,
      )
    },
    [Symbol.asyncDispose]: () => ends.disposeAsync(),
  }
}

/** The same, on a machine whose clock and disk do what `faults` tells them. */
export async function startOnFaultyMachine(
  environment: Record<string, string>,
  ...answers: Answer[]
): Promise<HostUnderFaults & { faults: MachineFaults }> {
  const { promise, resolve } = Promise.withResolvers<MachineFaults>()
  const running = await startHostUnderFaults(
    (folder, dataDir) => {
      const faults = createMachineFaults(folder, dataDir)
      resolve(faults)
      return { ...faults.environment, ...environment }
    },
    ...answers,
  )
  return Object.assign(running, { faults: await promise })
}
