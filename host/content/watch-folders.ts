import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** A folder as it was listed. Another folder at the same path has another identity: a new one may get the inode of one that is gone. */
export type ListedFolder = { path: string; identity: string }

/** `name` is the folder as its space names it, `root` its real path. */
export type SpaceFolders = { name: string; root: string; folders: readonly ListedFolder[] }

export type FolderWatch = {
  /**
   * Watches exactly these folders of a space from now on.
   *
   * @returns true when a folder is watched that was not: a file may have changed since it was listed
   */
  follow: (space: SpaceFolders) => boolean
  /** Watches no other spaces than those of these folders. */
  keepOnly: (names: readonly string[]) => void
  close: () => void
}

/**
 * Watches folders, not files: a space of 10,000 pages in 100 folders costs 101 watches. The folder above a root is watched
 * as well, as the root may be replaced.
 *
 * @param onFailed called for a folder that the system cannot watch
 */
export function watchFolders(
  onChange: (name: string) => void,
  onFailed: (folder: string, error: unknown) => void,
): FolderWatch {
  const watched = new Map<string, Map<string, FSWatcher | undefined>>()
  const end = (name: string): void => {
    for (const watcher of watched.get(name)?.values() ?? []) watcher?.close()
    watched.delete(name)
  }
  return {
    follow({ name, root, folders }) {
      const before = watched.get(name) ?? new Map<string, FSWatcher | undefined>()
      const now = new Map<string, FSWatcher | undefined>()
      watched.set(name, now)
      const begin = (key: string, path: string, only?: string): boolean => {
        const isNew = !before.has(key)
        now.set(key, isNew ? start(path, name, only) : before.get(key))
        before.delete(key)
        return isNew
      }
      let hasNew = begin('above', dirname(root), basename(root))
      for (const { path, identity } of folders) hasNew = begin(`${identity} ${path}`, path) || hasNew
      for (const watcher of before.values()) watcher?.close()
      return hasNew
    },
    keepOnly(names) {
      for (const name of watched.keys()) if (!names.includes(name)) end(name)
    },
    close() {
      for (const name of watched.keys()) end(name)
    },
  }

  /** @param only the name of the one entry that matters */
  function start(path: string, name: string, only: string | undefined): FSWatcher | undefined {
    try {
      const watcher = watch(path, { persistent: false }, (_event, entry) => {
        if (only === undefined || entry === only) onChange(name)
      })
      watcher.on('error', (error) => onFailed(path, error))
      return watcher
    } catch (error) {
      onFailed(path, error)
      return undefined
    }
  }
}
