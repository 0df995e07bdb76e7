import type { Dirent } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { messageOf } from '../errors.ts'
import { toVisible } from '../manifest/message-text.ts'
import { isInside } from '../manifest/read-inside.ts'

const maxEntries = 100_000

/** A file of a plugin folder by its relative path. `link` is the path that a symlink has. */
export type PluginFile = { path: string; link?: string }

/** esbuild's resolver reads these files itself, and as a whole. */
export const resolverFiles = /^(package\.json|\.pnp\..+)$/
const maxResolverFileBytes = 1024 * 1024

/**
 * Lists the files and symlinks of a plugin folder, sorted, without `.git`. Refuses special files, and symlinks that lead
 * outside. Attack: esbuild's resolver reads each `package.json` on its way, and a FIFO or a device would block it.
 *
 * @throws Error when the folder does not exist
 */
export async function listPluginFiles(
  folder: string,
): Promise<{ files: PluginFile[] } | { problem: string }> {
  const root = await realpath(folder)
  try {
    return await list(root)
  } catch (error) {
    // A folder without permission, or removed meanwhile.
    return { problem: `the plugin folder cannot be listed: ${messageOf(error).replaceAll(root, '.')}` }
  }
}

async function list(root: string): Promise<{ files: PluginFile[] } | { problem: string }> {
  const files: PluginFile[] = []
  const folders = [root]
  let entries = 0
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      entries += 1
      if (entries > maxEntries) return { problem: `the plugin folder has more than ${maxEntries} files` }
      const path = relative(root, join(at, entry.name))
      const problem = await whyRefused(root, path, entry)
      if (problem !== undefined) return { problem: `${toVisible(path)} ${problem}` }
      // `.git` is checked, too: a symlink may turn its contents into a package.
      if (entry.isDirectory()) folders.push(join(root, path))
      if (path.startsWith('.git/')) continue
      if (entry.isFile()) files.push({ path })
      else if (entry.isSymbolicLink()) files.push({ path, link: await readlink(join(root, path)) })
    }
  }
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) }
}

async function whyRefused(root: string, path: string, entry: Dirent): Promise<string | undefined> {
  const forResolver = resolverFiles.test(entry.name)
  if (entry.isDirectory()) return undefined
  if (entry.isFile()) {
    if (!forResolver) return undefined
    const { size } = await lstat(join(root, path))
    return size > maxResolverFileBytes
      ? `has ${size} bytes; at most ${maxResolverFileBytes} are allowed`
      : undefined
  }
  if (!entry.isSymbolicLink()) return 'is neither a file nor a folder'
  if (forResolver) return 'is a symlink; it must be a file'
  const real = await realpath(join(root, path)).catch(() => undefined)
  // A broken symlink cannot be read either.
  if (real === undefined || isInside(root, real)) return undefined
  return 'is a symlink that leads outside the plugin folder'
}
