import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Waits until the runner has taken what this process reports. Without it a process that is forced to its end drops the reports of
 * its last file, where the runner is busy.
 */
export async function drainReports(): Promise<void> {
  do {
    // Its callback comes when all before it is written. The event `drain` comes only after a write that was too much.
    await new Promise<void>((resolve) => process.stdout.write('', () => resolve()))
    await nextTurn()
  } while (process.stdout.writableLength > 0)
}
