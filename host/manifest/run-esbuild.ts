import { stop } from 'esbuild'

export class EsbuildTimeout extends Error {}

const attempts = 2

/**
 * Runs a task of esbuild on hostile source text.
 *
 * Annex has one esbuild process. A million open brackets overflow its stack and end it; then it refuses all tasks until
 * it is stopped. So it is stopped here, and the task runs once more: the text of another task may have ended it.
 *
 * @param timeoutMs esbuild is stopped after this time, and the next task starts it again
 * @throws EsbuildTimeout; Error when esbuild ends twice
 */
export async function runEsbuild<T>(task: () => Promise<T>, timeoutMs: number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withTimeout(task, timeoutMs)
    } catch (error) {
      if (!isServiceGone(error) || attempt === attempts) throw error
      await stop()
    }
  }
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
