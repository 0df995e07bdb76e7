import { setTimeout as sleep } from 'node:timers/promises'

/** Rows that one step may change: a few milliseconds of the database's time. */
export const stepSize = 250

const shortestPauseMs = 2

/**
 * Repeats a step until no rows may be left. Each step is a transaction. A pause as long as the step follows it, so that
 * other writes go on meanwhile.
 *
 * @param step changes at most `stepSize` rows. @returns how many, and whether there may be more
 * @param ending once it is aborted no further step begins
 * @returns how many rows were changed in all
 */
export async function inSteps(
  step: () => Promise<{ changed: number; more: boolean }>,
  ending?: AbortSignal,
): Promise<number> {
  let total = 0
  while (!ending?.aborted) {
    const began = performance.now()
    const { changed, more } = await step()
    total += changed
    if (!more) break
    await sleep(Math.max(shortestPauseMs, performance.now() - began))
  }
  return total
}
