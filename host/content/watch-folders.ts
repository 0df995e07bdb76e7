import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** A folder as it was listed. Another folder at the same path has another inode. */
export type ListedFolder = { path: string; inode: bigint }

export type FolderWatch = {
  /**
   * Watches exactly the folders of a space from now on.
   *
   * @returns true when a folder is watched that was not: a file may have changed since it was listed
   */
  follow: (root: string, folders: readonly ListedFolder[]) => boolean
  close: () => void
}

/**
 * Watches folders, not files: a space of 10,000 pages in 100 folders costs 101 watches. The folder above a root is watched
 * as well, as the root may be replaced.
 *
 * @param onFailed called for a folder that the system cannot watch
 */
export function watchFolders(
  onChange: () => void,
  onFailed: (folder: string, error: unknown) => void,
): FolderWatch {
  const roots = new Map<string, Map<string, FSWatcher | undefined>>()
  return {
    follow(root, folders) {
      const before = roots.get(root) ?? new Map<string, FSWatcher | undefined>()
      const now = new Map<string, FSWatcher | undefined>()
      roots.set(root, now)
      const begin = (key: string, path: string, only?: string): boolean => {
        const isNew = !before.has(key)
        now.set(key, isNew ? start(path, only) : before.get(key))
        before.delete(key)
        return isNew
      }
      let hasNew = begin('above', dirname(root), basename(root))
      for (const { path, inode } of folders) hasNew = begin(`${inode} ${path}`, path) || hasNew
      for (const watcher of before.values()) watcher?.close()
      return hasNew
    },
    close() {
      for (const watchers of roots.values()) for (const watcher of watchers.values()) watcher?.close()
      roots.clear()
    },
  }

  /** @param only the name of the one entry that matters */
  function start(path: string, only: string | undefined): FSWatcher | undefined {
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        if (only === undefined || name === only) onChange()
      })
      watcher.on('error', (error) => onFailed(path, error))
      return watcher
    } catch (error) {
      onFailed(path, error)
      return undefined
    }
  }
}
