import { setTimeout as sleep } from 'node:timers/promises'
import { answerCalls, nowMs } from './child-calls.ts'
import { type BenchedEvent, makeEvent } from './event.ts'

/** What a sender is started with. The database's address is empty where it needs none. */
export type Given = {
  urls: string[]
  databaseUrl: string
  dataDir: string
  pluginsDir: string
  /** More settings of Annex. */
  settings: Record<string, string>
}

/** One of the compared systems, in a process of its own: queues an event for all given URLs, and sends it. */
export type Sender = {
  /** What it runs on, with versions. */
  about: string
  /** Settles when the event and its deliveries are stored. */
  owe: (event: BenchedEvent) => Promise<unknown>
  /** How many deliveries are pending. */
  countOwed: () => Promise<number>
  close: () => Promise<unknown>
}

export type SenderMethods = {
  about: (none: undefined) => string
  /** Publishes so many events, as fast as they are stored; settles when all are. */
  publish: (given: { run: string; events: number }) => Promise<void>
  /** Publishes one event after the other, at these intervals, and tells when it began each. */
  pace: (given: { run: string; events: number; everyMs: number }) => Promise<Map<string, number>>
  /** Settles when every attempt is stored and no delivery is pending. */
  settle: (none: undefined) => Promise<void>
}

/** So many publishers wait for the store at once: of each side, in process and over HTTP. */
export const publishersAtOnce = 32
/** So many deliveries of each side are under way at once. */
export const inFlight = 64

const settlePollMs = 5
const settleMs = 120_000

/** In the sender's process: does what the benchmark asks for. */
export function serveSender({ about, owe, countOwed, close }: Sender): void {
  const methods: SenderMethods = {
    about: () => about,
    async publish({ run, events }) {
      let next = 0
      const publishNext = async () => {
        while (next < events) await owe(makeEvent(run, next++))
      }
      await Promise.all(Array.from({ length: publishersAtOnce }, publishNext))
    },
    async pace({ run, events, everyMs }) {
      const began = new Map<string, number>()
      const owing: Promise<unknown>[] = []
      const firstMs = nowMs()
      for (let number = 0; number < events; number++) {
        await sleep(Math.max(0, firstMs + number * everyMs - nowMs()))
        const event = makeEvent(run, number)
        began.set(event.eventId, nowMs())
        owing.push(owe(event))
      }
      await Promise.all(owing)
      return began
    },
    async settle() {
      const untilMs = nowMs() + settleMs
      while ((await countOwed()) > 0) {
        if (nowMs() > untilMs)
          throw new Error(`${await countOwed()} deliveries are owed after ${settleMs} ms`)
        await sleep(settlePollMs)
      }
    },
  }
  answerCalls(methods, close)
}
