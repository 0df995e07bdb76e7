import type { Db } from '../db/db.ts'
import { type FileProblem, listSpaces, type Space, updateProblems } from '../db/queries/places.ts'
import type { Author } from '../db/queries/revisions.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { toWantedPages } from './page-ids.ts'
import { createFolderReader } from './read-space-folder.ts'
import { watchFolders } from './watch-folders.ts'
import type { ContentWriter } from './write-content.ts'

export type SpaceWatch = {
  /** Reads all spaces now, and watches new ones. */
  sync: () => Promise<void>
  close: () => Promise<void>
}

type Given = {
  db: Db
  content: ContentWriter
  /** Files of Annex itself, which no space publishes. */
  listOwnFiles: () => Promise<OwnFiles>
  /** Called when other files of a space are left out than before. */
  onProblems: (space: Space, problems: readonly FileProblem[]) => void
  /** Called for a folder that cannot be read. The space keeps its last revision. */
  onFailure: (space: Space, error: unknown) => void
  /** Called for a folder that the system cannot watch. A reload reads it. */
  onUnwatched: (folder: string, error: unknown) => void
}

type FolderSpace = Space & { folder: string }

const settleMs = 200
const mostStored = 50

const author: Author = { type: 'host', id: 'folder' }

/** Makes a new revision of a space when its folder changes. */
export function watchSpaces({
  db,
  content,
  listOwnFiles,
  onProblems,
  onFailure,
  onUnwatched,
}: Given): SpaceWatch {
  const watcher = watchFolders(syncSoon, onUnwatched)
  const reader = createFolderReader()
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  let isClosed = false
  return {
    sync,
    async close() {
      isClosed = true
      clearTimeout(timer)
      watcher.close()
      await syncing.catch(() => {})
      watcher.close()
    },
  }

  /** An editor writes a file in several steps; a checkout writes many files. */
  function syncSoon(): void {
    clearTimeout(timer)
    // While the database is away, the next try may find it.
    if (!isClosed) timer = setTimeout(() => sync().catch(syncSoon), settleMs)
  }

  function sync(): Promise<void> {
    syncing = syncing.catch(() => {}).then(syncAll)
    return syncing
  }

  async function syncAll(): Promise<void> {
    const spaces = (await listSpaces(db)).filter((space): space is FolderSpace => space.folder !== null)
    const ownFiles = await listOwnFiles()
    for (const space of spaces) await syncOne(space, ownFiles).catch((error) => onFailure(space, error))
  }

  async function syncOne(space: FolderSpace, ownFiles: OwnFiles): Promise<void> {
    const folder = await reader.read(space.folder, ownFiles)
    // A file may have been saved between the list and the begin of the watch.
    if (watcher.follow(folder.root, folder.folders)) syncSoon()
    await content.write(space, author, (current) => toWantedPages(folder, current, ownFiles))
    const problems = folder.problems.slice(0, mostStored)
    const stored = JSON.stringify(problems)
    if (stored === space.problems) return
    await updateProblems(db, space.id, stored)
    onProblems(space, problems)
  }
}
