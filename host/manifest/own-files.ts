import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Annex's own files: the key, the database, tokens. A hard link to one of them in a plugin folder has a real path within
 * the folder, so files are told apart by device and inode.
 */
export type OwnFiles = ReadonlySet<string>

export const toFileId = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`

/** Lists the files in `dataDir`. Plugin folders may lie in there, and are left out. */
export async function listOwnFiles(dataDir: string, pluginsDir: string): Promise<OwnFiles> {
  const own = new Set<string>()
  const plugins = await realpath(pluginsDir).catch(() => undefined)
  const folders = [await realpath(dataDir).catch(() => dataDir)]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    if (at === plugins) continue
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) folders.push(path)
      if (!entry.isFile()) continue
      // It may be gone by now: the database's log comes and goes.
      const found = await stat(path, { bigint: true }).catch(() => undefined)
      if (found !== undefined) own.add(toFileId(found))
    }
  }
  return own
}
