import { stop } from 'esbuild'

export class EsbuildTimeout extends Error {}

const attempts = 2

/**
 * Runs one piece of work with esbuild, on source text that a stranger wrote.
 *
 * esbuild is one process for all of Annex. A million open brackets overflow its stack and end it; after that it
 * refuses all work, for everybody, until it is stopped and started anew. So it is restarted here, and the work
 * is tried again: it may have been somebody else's text that ended it.
 *
 * @param timeoutMs then esbuild is stopped, whatever it does (and is started again by the next work)
 * @throws EsbuildTimeout; Error when the text ends esbuild both times
 */
export async function runEsbuild<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withTimeout(work, timeoutMs)
    } catch (error) {
      if (!isServiceGone(error) || attempt === attempts) throw error
      await stop()
    }
  }
}

async function withTimeout<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new EsbuildTimeout(`esbuild took more than ${timeoutMs} ms`))
    void stop()
  }, timeoutMs)
  const result = work()
  // Once late, nobody waits for the work itself any more.
  result.catch(() => undefined)
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}

const isServiceGone = (error: unknown): boolean =>
  error instanceof Error && /The service (was stopped|is no longer running)/.test(error.message)
