import { watch } from 'chokidar'
import type { Db } from '../db/db.ts'
import { type FileProblem, listSpaces, type Space, updateProblems } from '../db/queries/places.ts'
import type { Author } from '../db/queries/revisions.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { toWantedPages } from './page-ids.ts'
import { createFolderReader } from './read-space-folder.ts'
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
}

type FolderSpace = Space & { folder: string }

const settleMs = 200
const mostStored = 50

const author: Author = { type: 'host', id: 'folder' }

/** Makes a new revision of a space when its folder changes. */
export function watchSpaces({ db, content, listOwnFiles, onProblems, onFailure }: Given): SpaceWatch {
  // Files of the first scan count as changed: otherwise a file saved since the last sync would be missed.
  const watcher = watch([], { followSymlinks: false })
  const reader = createFolderReader()
  let watched: Space[] = []
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  watcher.on('all', () => {
    // An editor writes a file in several steps; a checkout writes many files.
    clearTimeout(timer)
    timer = setTimeout(sync, settleMs)
  })
  // A name of broken bytes cannot be watched. The sync reports it.
  watcher.on('error', () => {})
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
    const spaces = (await listSpaces(db)).filter((space): space is FolderSpace => space.folder !== null)
    const isNew = (space: Space) => !watched.some(({ folder }) => folder === space.folder)
    watcher.add(spaces.filter(isNew).map(({ folder }) => folder))
    watched = spaces
    const ownFiles = await listOwnFiles()
    for (const space of spaces) await syncOne(space, ownFiles).catch((error) => onFailure(space, error))
  }

  async function syncOne(space: FolderSpace, ownFiles: OwnFiles): Promise<void> {
    const folder = await reader.read(space.folder, ownFiles)
    await content.write(space, author, (current) => toWantedPages(folder, current, ownFiles))
    const problems = folder.problems.slice(0, mostStored)
    const stored = JSON.stringify(problems)
    if (stored === space.problems) return
    await updateProblems(db, space.id, stored)
    onProblems(space, problems)
  }
}
