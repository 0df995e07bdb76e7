import type { Dirent } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileProblem } from '../db/queries/places.ts'
import type { ListedFolder } from './watch-folders.ts'

/** A Markdown file. `stamp` differs after each write. */
export type FoundFile = { file: string; stamp: string; changedAt: number }

export const maxPages = 20_000
const maxEntries = 200_000
const maxDepth = 32
/** Calls of the file system share threads with the database. */
const statsAtOnce = 8

/** Lists the Markdown files of a hostile folder in a stable order. Links are not followed. Files that cannot be pages are reported. */
export async function listFolder(
  root: string,
): Promise<{ files: FoundFile[]; folders: ListedFolder[]; problems: FileProblem[] }> {
  const folders: ListedFolder[] = []
  const problems: FileProblem[] = []
  const found: string[] = []
  let seen = 0
  const open = ['']
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const listed = await stat(join(root, folder), { bigint: true }).catch(() => undefined)
    if (listed !== undefined) {
      folders.push({ path: join(root, folder), identity: `${listed.ino} ${listed.birthtimeNs}` })
    }
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error) => {
      problems.push({
        file: folder || '.',
        message: `The folder cannot be read (${error.code}). Let Annex read it.`,
      })
      return []
    })
    for (const entry of entries) {
      seen += 1
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`
      const kind = await kindOf(entry, join(root, file))
      const problem = kind === 'other' ? undefined : whyNot(kind, entry.name, file)
      if (problem !== undefined) problems.push({ file, message: problem })
      else if (kind === 'folder') open.push(file)
      else if (kind === 'page') found.push(file)
    }
    if (seen > maxEntries || found.length > maxPages) {
      const message = `The folder has more than ${maxPages} pages or ${maxEntries} files. The rest is left out: make several spaces of it.`
      problems.push({ file: folder || '.', message })
      break
    }
  }
  const files: FoundFile[] = []
  found.sort()
  for (let at = 0; at < Math.min(found.length, maxPages); at += statsAtOnce) {
    const some = found.slice(at, Math.min(at + statsAtOnce, maxPages))
    files.push(...(await Promise.all(some.map((file) => stampOf(root, file)))))
  }
  return { files, folders, problems }
}

type Kind = 'page' | 'folder' | 'link' | 'special' | 'other'

async function kindOf(entry: Dirent, path: string): Promise<Kind> {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return 'other'
  const isPage = /\.md$/i.test(entry.name)
  if (entry.isDirectory()) return 'folder'
  if (entry.isFile()) return isPage ? 'page' : 'other'
  if (!entry.isSymbolicLink()) return isPage ? 'special' : 'other'
  const leadsToFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isPage || leadsToFolder ? 'link' : 'other'
}

function whyNot(kind: Kind, name: string, file: string): string | undefined {
  if (kind === 'link') return 'A symbolic link is not followed. Put the file or folder itself there.'
  if (kind === 'special') return 'Not a plain file. Put a plain file there.'
  if (name.includes('\ufffd')) return 'The name is not UTF-8. Rename it.'
  if (/[\p{C}\\]/u.test(name))
    return 'The name has a control or invisible character or a backslash. Rename it.'
  if (file.split('/').length > maxDepth) return `It lies more than ${maxDepth} folders deep. Move it up.`
  return undefined
}

async function stampOf(root: string, file: string): Promise<FoundFile> {
  // A file that is gone by now is reported by its reader.
  const found = await lstat(join(root, file), { bigint: true }).catch(() => undefined)
  if (found === undefined) return { file, stamp: '', changedAt: Number.POSITIVE_INFINITY }
  const stamp = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join()
  return { file, stamp, changedAt: Number(found.ctimeMs) }
}
