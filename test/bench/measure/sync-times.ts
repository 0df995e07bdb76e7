import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const sync = promisify(fdatasync)
/** What a commit of one event and its five deliveries writes. */
const bytesEach = 200 * 1024
/** Written over and over, as a log is. */
const longest = 200 * bytesEach

/**
 * How long this disk takes to have what is stored at these intervals, in ms, for each time: nothing that is durable is quicker.
 * Whatever comes up during a sync waits for the next one, as in a group commit.
 */
export async function measureSyncs({
  count,
  everyMs,
}: {
  count: number
  everyMs: number
}): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-sync-'))
  const file = openSync(join(folder, 'log'), 'w')
  const bytes = Buffer.alloc(bytesEach, 1)
  for (let at = 0; at < longest; at += bytesEach) writeSync(file, bytes, 0, bytesEach, at)
  await sync(file)
  const times: number[] = []
  const firstMs = performance.now()
  const dueMs = (number: number) => firstMs + number * everyMs
  try {
    while (times.length < count) {
      await sleep(Math.max(0, dueMs(times.length) - performance.now()))
      const startedMs = performance.now()
      writeSync(file, bytes, 0, bytesEach, (times.length * bytesEach) % longest)
      await sync(file)
      const doneMs = performance.now()
      for (let next = times.length; next < count && dueMs(next) <= startedMs; next++) {
        times.push(doneMs - dueMs(next))
      }
    }
    return times
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}
