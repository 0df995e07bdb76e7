import { relative, sep } from 'node:path'
import { watch } from 'chokidar'

const settleMs = 150

/**
 * Calls back when a file in a plugin folder has changed, once for changes that come together. What Annex writes
 * there itself, and packages, do not count.
 *
 * @returns ends the watch
 */
export function watchPlugins(pluginsDir: string, onChange: () => void): () => Promise<void> {
  const isIgnored = (path: string) =>
    relative(pluginsDir, path)
      .split(sep)
      .some(
        (part) => part === 'node_modules' || part === 'generated' || (part.startsWith('.') && part !== '..'),
      )
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(pluginsDir, { ignoreInitial: true, followSymlinks: false, ignored: isIgnored })
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(onChange, settleMs)
  })
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}
