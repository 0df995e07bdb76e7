import { setTimeout as sleep } from 'node:timers/promises'
import { stop, transform } from 'esbuild'

export class EsbuildTimeout extends Error {}

const attempts = 3
/** A text that overflows esbuild's stack ends it sooner. */
const aloneMs = 2_000
/** The tasks that run once more, one after the other. New tasks wait behind them. */
let again: Promise<unknown> = Promise.resolve()

/**
 * Runs a task of esbuild on hostile source text.
 *
 * Annex has one esbuild process, and tasks run beside each other. A million open brackets overflow its stack and end it;
 * then it refuses all tasks until it is stopped. So it is stopped here. The tasks that it had run once more, each alone: the
 * one that ends it again is the culprit.
 *
 * @param timeoutMs esbuild is stopped after this time, and the next task starts it again
 * @throws EsbuildTimeout; Error when esbuild ends each time
 */
export async function runEsbuild<T>(task: () => Promise<T>, timeoutMs: number): Promise<T> {
  await again
  for (let attempt = 1; ; attempt++) {
    try {
      return await (attempt === 1 ? withTimeout(task, timeoutMs) : runAlone(task, timeoutMs))
    } catch (error) {
      if (!isServiceGone(error) || attempt === attempts) throw error
    }
  }
}

function runAlone<T>(task: () => Promise<T>, timeoutMs: number): Promise<T> {
  const run = again.then(async () => {
    // Another task may have stopped it since, and a slow one may run again.
    await transform('').catch(() => stop())
    return { result: withTimeout(task, timeoutMs) }
  })
  // A slow task holds up no other.
  again = run
    .then(({ result }) => Promise.race([result, sleep(aloneMs, undefined, { ref: false })]))
    .catch(() => {})
  return run.then(({ result }) => result)
}

async function withTimeout<T>(task: () => Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new EsbuildTimeout(`esbuild took more than ${timeoutMs} ms`))
    void stop()
  }, timeoutMs)
  const result = task()
  // After the timeout the task may still reject: that is no unhandled rejection.
  result.catch(() => undefined)
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}

const isServiceGone = (error: unknown): boolean =>
  error instanceof Error && /The service (was stopped|is no longer running)/.test(error.message)
