import { lstat, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AnnexError } from '../errors.ts'

/** The setting `PLUGINS_DIR`. The default folder may be missing: a first start has no plugin folder yet. */
export type PluginsDir = { path: string; isDefault: boolean }

/**
 * Lists the sub-folders of the plugins folder, and links to folders. A link to a missing folder is listed, too: reading it
 * reports a mount that is missing, for instance.
 *
 * @throws AnnexError `settings_invalid` when the plugins folder cannot be read: an empty list would take every integration out of
 *   service
 */
export async function listPluginFolders({ path: dir, isDefault }: PluginsDir): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(async (cause) => {
    if (isDefault && cause.code === 'ENOENT' && !(await isLink(dir))) return []
    throw await toError(dir, cause)
  })
  const folders: string[] = []
  for (const entry of entries) {
    if (isNoPlugin(entry.name)) continue
    const path = join(dir, entry.name)
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(path)))
    if (isFolder) folders.push(path)
  }
  return folders.sort()
}

/** Names in the plugins folder that are no plugin folders. */
export const isNoPlugin = (name: string): boolean => name.startsWith('.') || name === 'node_modules'

const leadsToFolder = (link: string): Promise<boolean> =>
  stat(link).then(
    (found) => found.isDirectory(),
    () => true,
  )

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )

async function toError(dir: string, cause: NodeJS.ErrnoException): Promise<AnnexError> {
  const whys: Record<string, string> = {
    ENOENT: (await isLink(dir)) ? 'is a link to a folder that does not exist' : 'does not exist',
    ENOTDIR: 'is not a folder',
    EACCES: 'may not be read by the user that runs Annex',
    ELOOP: 'is a link that leads to itself',
  }
  const why = whys[cause.code ?? ''] ?? 'cannot be read'
  return new AnnexError(
    'settings_invalid',
    `PLUGINS_DIR: ${resolve(dir)} ${why} (${cause.code}). Name the folder whose sub-folders are integrations, or make it.`,
    { cause },
  )
}
