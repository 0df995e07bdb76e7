import { existsSync, realpathSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { watch } from 'chokidar'
import { isInside } from '../manifest/read-inside.ts'
import { listPluginFolders } from './load-plugins.ts'

const settleMs = 150
/** The one file that Annex writes into a plugin folder. */
const ownFile = join('generated', 'integration.ts')

/**
 * Calls back when a file in a plugin folder has changed, once for changes that come together. The file that Annex writes
 * there, packages, and names that begin with a dot do not count. The real place of a linked plugin folder is watched too.
 *
 * @returns ends the watch
 */
export function watchPlugins(pluginsDir: string, onChange: () => void): () => Promise<void> {
  const root = existsSync(pluginsDir) ? realpathSync(pluginsDir) : resolve(pluginsDir)
  let linked: string[] = []
  let timer: NodeJS.Timeout | undefined
  // Links inside a plugin folder are not followed: one to "/" would have the whole disk watched. Files that the first scan
  // finds count as changed: one that was saved since the folders were loaded would be missed.
  const watcher = watch(root, { followSymlinks: false, ignored: isIgnored })
  watcher.on('all', (_event, path) => {
    if (isOwn(path)) return
    clearTimeout(timer)
    timer = setTimeout(settle, settleMs)
  })
  let following = followLinks()
  return async () => {
    clearTimeout(timer)
    await following
    await watcher.close()
  }

  function settle(): void {
    following = following.then(followLinks)
    onChange()
  }

  async function followLinks(): Promise<void> {
    const before = linked
    linked = await listLinked(root)
    watcher.unwatch(before.filter((place) => !linked.includes(place)))
    watcher.add(linked.filter((place) => !before.includes(place)))
  }

  function isIgnored(path: string): boolean {
    return wayTo(path).some((part) => part === 'node_modules' || (part.startsWith('.') && part !== '..'))
  }

  function isOwn(path: string): boolean {
    const way = wayTo(path).join(sep)
    return way === ownFile || way === 'generated'
  }

  /** The steps to a path from its plugin folder. */
  function wayTo(path: string): string[] {
    const place = linked.find((folder) => isInside(folder, path))
    return place === undefined ? relative(root, path).split(sep).slice(1) : relative(place, path).split(sep)
  }
}

/** Real places of linked plugin folders. One that holds the plugins folder itself is not watched: it may be the disk. */
async function listLinked(root: string): Promise<string[]> {
  const places: string[] = []
  for (const folder of await listPluginFolders(root)) {
    const place = await realpath(folder).catch(() => folder)
    if (!isInside(root, place) && !isInside(place, root)) places.push(place)
  }
  return places
}
