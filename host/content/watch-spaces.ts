import { watch } from 'chokidar'
import type { Db } from '../db/db.ts'
import { listSpaces, type Revision, type Space } from '../db/queries/records/spaces.ts'
import { syncSpace } from './sync-space.ts'

/** Keeps the spaces in step with their folders. */
export type SpaceWatch = {
  /** Looks at every space now, and watches those that are new. */
  sync: () => Promise<void>
  close: () => Promise<void>
}

const settleMs = 200

/**
 * @param onChanged called for each revision but a space's first: the content was modified
 * @param onProblem gets a folder that cannot be read; the space keeps its last revision
 */
export function watchSpaces(
  db: Db,
  onChanged: (space: Space, revision: Revision) => Promise<void>,
  onProblem: (space: Space, error: unknown) => void,
): SpaceWatch {
  // Files that the first scan of a folder finds count as changed: one that was saved since the last sync would be missed.
  const watcher = watch([], { followSymlinks: false })
  let watched: Space[] = []
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  watcher.on('all', () => {
    // An editor writes a file in several steps, and a checkout writes many.
    clearTimeout(timer)
    timer = setTimeout(sync, settleMs)
  })
  return {
    sync,
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await syncing
    },
  }

  function sync(): Promise<void> {
    syncing = syncing.then(syncAll)
    return syncing
  }

  async function syncAll(): Promise<void> {
    const spaces = await listSpaces(db)
    const isNew = (space: Space) => !watched.some(({ folder }) => folder === space.folder)
    watcher.add(spaces.filter(isNew).map(({ folder }) => folder))
    watched = spaces
    for (const space of spaces) await syncOne(space)
  }

  async function syncOne(space: Space): Promise<void> {
    try {
      const synced = await syncSpace(db, space)
      if (synced !== undefined && !synced.isFirst) await onChanged(space, synced.revision)
    } catch (error) {
      onProblem(space, error)
    }
  }
}
