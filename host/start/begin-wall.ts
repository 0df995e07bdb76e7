import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { loadProcessCode, type ProcessCode } from '../bundle/build-runtime.ts'
import { findEnclosure } from '../sandbox/wall/find-enclosure.ts'
import type { Wall } from '../sandbox/wall/levels.ts'
import { reachWall } from '../sandbox/wall/reach-wall.ts'
import type { Delivering } from './start-delivering.ts'

/** The code of sandbox processes, and whether the wall around them holds: `tried` rejects where it does not. */
export type BegunWall = { code: ProcessCode; tried: Promise<Wall> }

/**
 * Begins to try the wall. A process does that, which needs nothing of this one for a tenth of a second: it is waited for when the
 * rest of Annex is loaded. Settles when that process has been started.
 */
export async function beginWall({ settings, dataDir }: Delivering): Promise<BegunWall> {
  const [code, enclosure] = await Promise.all([
    loadProcessCode({ cacheFolder: join(dataDir, 'cache') }),
    findEnclosure(),
  ])
  const tried = reachWall(code.probe, settings.SANDBOX_REQUIRE, enclosure)
  // Whoever waits for it hears of it; until then nobody does.
  tried.catch(() => {})
  await nextTurn()
  return { code, tried }
}
