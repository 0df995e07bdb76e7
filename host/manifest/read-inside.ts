import { constants, type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'

/** A file of a plugin folder, or the reason why it cannot be used: the end of the sentence "the script …". */
export type FileReading = { path: string; bytes: Buffer } | { problem: string }

export const missing = 'does not exist'

/**
 * Reads a file by a hostile path, relative to the folder. The file must be a regular one, with its real path within the
 * folder. FIFOs and devices, which would block, are refused.
 *
 * @param maxBytes larger files are refused
 * @param ownFiles these files are refused
 */
export async function readInside(
  folder: string,
  path: string,
  maxBytes: number,
  ownFiles: OwnFiles | undefined,
): Promise<FileReading> {
  const outside = 'lies outside the plugin folder'
  if (path.includes('\0')) return { problem: 'holds a NUL byte' }
  if (isAbsolute(path) || /^[A-Za-z]:|^[\\]/.test(path)) return { problem: 'is absolute' }
  if (!isInside(folder, resolve(folder, path))) return { problem: outside }
  try {
    const [root, real] = await Promise.all([realpath(folder), realpath(join(folder, path))])
    if (!isInside(root, real)) return { problem: `${outside}: a symlink leads there` }
    if (!(await lstat(real)).isFile()) return { problem: 'is not a regular file' }
    return { path: real, bytes: await readRegularFile(real, maxBytes, ownFiles) }
  } catch (error) {
    return { problem: toReason(error) }
  }
}

/** True for the folder itself and each path below it. Compares text: pass real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(resolve(folder), path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

async function readRegularFile(
  real: string,
  maxBytes: number,
  ownFiles: OwnFiles | undefined,
): Promise<Buffer> {
  // Attack: the file is swapped after the check. NOFOLLOW refuses a new symlink; NONBLOCK does not wait for a new FIFO.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return await readAtMost(file, maxBytes, ownFiles)
  } finally {
    await file.close()
  }
}

async function readAtMost(
  file: FileHandle,
  maxBytes: number,
  ownFiles: OwnFiles | undefined,
): Promise<Buffer> {
  const found = await file.stat({ bigint: true })
  if (!found.isFile()) throw new Unusable('is not a regular file')
  if (ownFiles?.has(toFileId(found))) throw new Unusable('is a file of Annex itself (DATA_DIR)')
  const size = Number(found.size)
  if (size > maxBytes) throw new Unusable(`has ${size} bytes; at most ${maxBytes} are read`)
  // A file that grows while it is read is cut at this size.
  const buffer = Buffer.alloc(size)
  let filled = 0
  while (filled < size) {
    const { bytesRead } = await file.read(buffer, filled, size - filled, filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

class Unusable extends Error {}

function toReason(error: unknown): string {
  if (error instanceof Unusable) return error.message
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return missing
    case 'ELOOP':
      return 'is a symlink that leads in a circle'
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read: permission denied'
    default:
      return `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`
  }
}

/**
 * The files of Annex itself (key, database, tokens) by device and inode: the real path of a hard link to one lies
 * within the plugin folder.
 */
export type OwnFiles = ReadonlySet<string>

const toFileId = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`

/** Lists the files in `dataDir`, without those of plugin folders in it. */
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
      // A log of the database may be gone by now.
      const found = await stat(path, { bigint: true }).catch(() => undefined)
      if (found !== undefined) own.add(toFileId(found))
    }
  }
  return own
}
