import type { LoadedSettings } from './config/load-settings.ts'
import type { RunningServer } from './start/start-answering.ts'
import { startDelivering } from './start/start-delivering.ts'

export type { RunningServer }

/** Starts Annex. When a part cannot start, the parts before it are closed. */
export async function startServer(loaded: LoadedSettings): Promise<RunningServer> {
  const ends = new AsyncDisposableStack()
  try {
    const delivering = await startDelivering(loaded, ends)
    // Half of Annex's code: it is loaded while the first deliveries are on their way, and while the wall is tried.
    const { beginWall } = await import('./start/begin-wall.ts')
    const wall = await beginWall(delivering)
    const { startAnswering } = await import('./start/start-answering.ts')
    return await startAnswering(delivering, wall, ends)
  } catch (error) {
    await ends.disposeAsync()
    throw error
  }
}
