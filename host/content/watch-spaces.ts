import { watch } from 'chokidar'
import type { Db } from '../db/db.ts'
import {
  findRevision,
  insertRevision,
  listSpaces,
  lockSpace,
  type Revision,
  type Space,
} from '../db/queries/places.ts'
import { readSpaceFolder } from './read-space-folder.ts'

export type SpaceWatch = {
  /** Reads all spaces now, and watches new ones. */
  sync: () => Promise<void>
  close: () => Promise<void>
}

const settleMs = 200

/**
 * Makes a new revision of a space when its folder changes.
 *
 * @param onChanged called for each revision except a space's first
 * @param onProblem called for a folder that cannot be read; the space keeps its last revision
 */
export function watchSpaces(
  db: Db,
  onChanged: (space: Space, revision: Revision) => Promise<void>,
  onProblem: (space: Space, error: unknown) => void,
): SpaceWatch {
  // Files of the first scan count as changed: otherwise a file saved since the last sync would be missed.
  const watcher = watch([], { followSymlinks: false })
  let watched: Space[] = []
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  watcher.on('all', () => {
    // An editor writes a file in several steps; a checkout writes many files.
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

/** @returns the new revision, or undefined when the folder is unchanged */
async function syncSpace(
  db: Db,
  space: Space,
): Promise<{ revision: Revision; isFirst: boolean } | undefined> {
  const { pages, digest } = await readSpaceFolder(space.folder)
  return db.transaction(async (transaction) => {
    const current = await lockSpace(transaction, space.id)
    const last = current?.revisionId ? await findRevision(transaction, current.revisionId) : undefined
    if (last?.digest === digest) return undefined
    const revision = await insertRevision(transaction, { spaceId: space.id, digest, pages })
    return { revision, isFirst: last === undefined }
  })
}
