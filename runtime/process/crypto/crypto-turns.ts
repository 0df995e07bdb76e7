import { createThreadClock, type ThreadClock } from './thread-time.ts'

/** A piece of work. Calls `done` once, when it is over. */
export type Job = (done: () => void) => void

/** The waiting crypto calls of one sandbox. */
export type Lane = { add: (job: Job) => void; close: () => void }

/** Lets the work of many sandboxes share few threads. */
export type Turns = { createLane: () => Lane }

/** The turns of one process: for work of a few milliseconds, and for work that may take seconds. */
export type CryptoTurns = { quick: Turns; slow: Turns; clock: ThreadClock }

/**
 * Node does cryptography in four threads, which all sandboxes of a process share, and no operation can be stopped
 * once it has begun. So only two slow ones run at a time, of two sandboxes: beside RSA key generation, signatures of other
 * sandboxes still get a thread.
 */
export const createCryptoTurns = (): CryptoTurns => ({
  quick: createTurns({ atOnce: 8, perLane: 4 }),
  slow: createTurns({ atOnce: 2, perLane: 1 }),
  clock: createThreadClock(),
})

type Waiting = { jobs: Job[]; running: number; inLine: boolean }

/** Lanes are served in turn, so one that has a thousand jobs waiting delays another's by one job of its own. */
export const createTurns = ({ atOnce, perLane }: { atOnce: number; perLane: number }): Turns => {
  const line: Waiting[] = []
  let running = 0

  const standInLine = (lane: Waiting): void => {
    if (lane.inLine || lane.jobs.length === 0 || lane.running >= perLane) return
    lane.inLine = true
    line.push(lane)
  }

  const serve = (): void => {
    while (running < atOnce) {
      const lane = line.shift()
      if (lane === undefined) return
      lane.inLine = false
      const job = lane.jobs.shift()
      if (job === undefined) continue
      running += 1
      lane.running += 1
      standInLine(lane)
      job(() => {
        running -= 1
        lane.running -= 1
        standInLine(lane)
        serve()
      })
    }
  }

  return {
    createLane() {
      const lane: Waiting = { jobs: [], running: 0, inLine: false }
      return {
        add(job) {
          lane.jobs.push(job)
          standInLine(lane)
          serve()
        },
        close() {
          lane.jobs = []
        },
      }
    },
  }
}
