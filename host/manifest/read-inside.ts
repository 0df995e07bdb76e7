import { constants, type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type OwnFiles, toFileId } from './own-files.ts'

/** A file of a plugin folder, or why it cannot be used, as the end of the sentence "script: …". */
export type FileReading = { path: string; bytes: Buffer } | { problem: string }

export const missing = 'does not exist'

/**
 * Reads a file whose path a stranger wrote. It must be a regular file whose real path lies within the folder.
 * Never hangs: a FIFO or a device is not read.
 *
 * @param path relative to the folder
 * @param maxBytes larger files are refused, unread
 * @param ownFiles refused, unread
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

/** True when the path is the folder itself or lies below it. Compares text: give real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(resolve(folder), path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

async function readRegularFile(
  real: string,
  maxBytes: number,
  ownFiles: OwnFiles | undefined,
): Promise<Buffer> {
  // The file may have been swapped since it was looked at: NOFOLLOW meets a new symlink, NONBLOCK a new FIFO.
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
  // The size at this moment and no more: a file that grows meanwhile is cut, not followed.
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
