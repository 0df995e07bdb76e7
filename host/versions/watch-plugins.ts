import { existsSync, realpathSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { watch } from 'chokidar'
import { afterChanges } from '../after-changes.ts'
import { isInside } from '../manifest/read-inside.ts'
import { isNoPlugin, listPluginFolders } from './plugins-dir.ts'

const settling = { quietMs: 150, mostMs: 2000 }
/** Packages, repositories, and what editors and file managers write beside a file. */
const ignored = /^(node_modules|\.(git|hg|svn|jj|DS_Store|#.*|.*\.sw[a-z]))$/
/** The only file that Annex writes into a plugin folder. */
const ownFile = join('generated', 'integration.ts')

/**
 * Calls `onChange` when files in plugin folders change, once for changes within 150 ms of each other. Packages, files of
 * version control and of editors, and Annex's own file are ignored. Other hidden files count: a script may import them. Linked
 * plugin folders are watched, too.
 *
 * @returns a function that ends the watch
 */
export function watchPlugins(pluginsDir: string, onChange: () => void): () => Promise<void> {
  const root = existsSync(pluginsDir) ? realpathSync(pluginsDir) : resolve(pluginsDir)
  let linked: string[] = []
  const changes = afterChanges(settle, settling)
  // Links inside a plugin folder are not followed: a link to "/" would watch the whole disk. Files of the first scan count
  // as changed: otherwise a file saved since the folders were loaded would be missed.
  const watcher = watch(root, { followSymlinks: false, ignored: isIgnored })
  watcher.on('all', (_event, path) => {
    if (isOwn(path)) return
    changes.note()
  })
  let following = followLinks()
  return async () => {
    changes.cancel()
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
    watcher.unwatch(before.filter((path) => !linked.includes(path)))
    watcher.add(linked.filter((path) => !before.includes(path)))
  }

  function isIgnored(path: string): boolean {
    const [first = ''] = isInside(root, path) ? relative(root, path).split(sep) : []
    return isNoPlugin(first) || partsOf(path).some((part) => ignored.test(part))
  }

  function isOwn(path: string): boolean {
    const inFolder = partsOf(path).join(sep)
    return inFolder === ownFile || inFolder === 'generated'
  }

  /** The parts of a path below its plugin folder. */
  function partsOf(path: string): string[] {
    const linkedFolder = linked.find((folder) => isInside(folder, path))
    return linkedFolder === undefined
      ? relative(root, path).split(sep).slice(1)
      : relative(linkedFolder, path).split(sep)
  }
}

/** The real paths of linked plugin folders. A path that contains the plugins folder is left out: it may be the whole disk. */
async function listLinked(root: string): Promise<string[]> {
  const found: string[] = []
  const folders = await listPluginFolders({ path: root, isDefault: false }).catch(() => [])
  for (const folder of folders) {
    const folderPath = await realpath(folder).catch(() => folder)
    if (!isInside(root, folderPath) && !isInside(folderPath, root)) found.push(folderPath)
  }
  return found
}
