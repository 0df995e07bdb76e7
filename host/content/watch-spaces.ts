import { systemOrigin } from '../access/actor.ts'
import { afterChanges, type ChangeState } from '../after-changes.ts'
import type { Db } from '../db/db.ts'
import {
  type FileProblem,
  type FolderSpace,
  listFolderSpaces,
  type Space,
  updateProblems,
} from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import { toWantedPages } from './page-ids.ts'
import { createFolderReader } from './read-space-folder.ts'
import { watchFolders } from './watch-folders.ts'
import type { By, ContentWriter } from './write-content.ts'

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
  /** Called when a space has other problems than before. */
  onProblems: (space: Space, problems: readonly FileProblem[]) => void
  /** Called for a folder that cannot be read. The space keeps its last revision. */
  onFailure: (space: Space, error: unknown) => void
  /** Called for a folder that the system cannot watch. A reload reads it. */
  onUnwatched: (folder: string, error: unknown) => void
}

const settling = { quietMs: 200, mostMs: 5000 }
const mostStored = 50

const by: By = { author: { type: 'host', id: 'folder' }, origin: systemOrigin }

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
  const changed = new Set<string>()
  // An editor writes a file in several steps; a checkout writes many files.
  const changes = afterChanges(syncChanged, settling)
  let syncing: Promise<void> = Promise.resolve()
  let isClosed = false
  return {
    sync,
    async close() {
      isClosed = true
      changes.cancel()
      watcher.close()
      await syncing.catch(() => {})
      watcher.close()
    },
  }

  function syncSoon(folder: string): void {
    changed.add(folder)
    if (!isClosed) changes.note()
  }

  function syncChanged(state: ChangeState): void {
    const folders = [...changed]
    changed.clear()
    inTurn((space) => folders.includes(space.folder), state).catch(() => {
      // While the database is away, the next try may find it.
      for (const folder of folders) syncSoon(folder)
    })
  }

  function sync(): Promise<void> {
    return inTurn(() => true, 'changing')
  }

  function inTurn(isMeant: (space: FolderSpace) => boolean, state: ChangeState): Promise<void> {
    syncing = syncing.catch(() => {}).then(() => syncSome(isMeant, state))
    return syncing
  }

  async function syncSome(isMeant: (space: FolderSpace) => boolean, state: ChangeState): Promise<void> {
    const spaces = await listFolderSpaces(db)
    watcher.keepOnly(spaces.map(({ folder }) => folder))
    const ownFiles = await listOwnFiles()
    for (const space of spaces.filter(isMeant)) {
      await syncOne(space, ownFiles, state).catch((error) => onFailure(space, error))
    }
  }

  async function syncOne(space: FolderSpace, ownFiles: OwnFiles, state: ChangeState): Promise<void> {
    const folder = await reader.read(space.folder, ownFiles)
    // Read between the two steps of a move, a page would lose its id. The folder is read again when it rests. One that goes on
    // changing, or that a reload asks for, is taken as it is.
    if (state === 'quiet' && changed.has(space.folder)) return
    // A file may have been saved between the list and the begin of the watch.
    if (watcher.follow({ name: space.folder, ...folder })) syncSoon(space.folder)
    // Before the revision: a reader who sees it finds the reasons of what it leaves out.
    await storeProblems(space, folder.problems.slice(0, mostStored))
    try {
      await content.write(space, by, (current) => toWantedPages(folder, current, ownFiles))
    } catch (error) {
      if (error instanceof AnnexError && error.code === 'content_quota') {
        const problem = { file: '.', message: error.message }
        const before = { ...space, problems: '' }
        await storeProblems(before, [problem, ...folder.problems].slice(0, mostStored))
      }
      throw error
    }
  }

  async function storeProblems(space: FolderSpace, problems: FileProblem[]): Promise<void> {
    const stored = JSON.stringify(problems)
    if (stored === space.problems) return
    await updateProblems(db, space.id, stored)
    onProblems(space, problems)
  }
}
