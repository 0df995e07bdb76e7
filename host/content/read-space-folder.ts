import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { PageRecord } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'

const maxPages = 5_000
const maxPageBytes = 1024 * 1024

/**
 * Reads a space: each Markdown file of its folder is a page. A page's id is derived from its path: it stays the same when
 * the text changes.
 *
 * @throws AnnexError `not_found` without the folder; `body_too_large` for a page over 1 MiB or more than 5,000 pages
 */
export async function readSpaceFolder(folder: string): Promise<{ pages: PageRecord[]; digest: string }> {
  const root = await realpath(folder).catch(() => {
    throw new AnnexError('not_found', `The space's folder ${folder} does not exist.`)
  })
  const pages: PageRecord[] = []
  for (const file of await listMarkdown(root)) pages.push(await readPage(root, file))
  const digest = createHash('sha256').update(JSON.stringify(pages)).digest('hex')
  return { pages, digest }
}

async function listMarkdown(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  // Links are not followed: a space publishes its own folder only.
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(root, file).split(sep).some(isHidden))
  if (files.length > maxPages) {
    throw new AnnexError('body_too_large', `${root} has more than ${maxPages} Markdown files.`)
  }
  return files.sort()
}

const isHidden = (part: string): boolean => part.startsWith('.') || part === 'node_modules'

async function readPage(root: string, file: string): Promise<PageRecord> {
  const { size } = await stat(file)
  if (size > maxPageBytes)
    throw new AnnexError('body_too_large', `${file} is larger than ${maxPageBytes} bytes.`)
  const markdown = await readFile(file, 'utf8')
  const path = relative(root, file).split(sep).join('/').replace(/\.md$/, '')
  const id = `page_${createHash('sha256').update(path).digest('hex').slice(0, 24)}`
  return { id, path, title: titleOf(markdown) ?? path, markdown }
}

/** The first heading. */
function titleOf(markdown: string): string | undefined {
  return /^#{1,6}[ \t]+(.{1,300}?)[ \t#]*$/m.exec(markdown)?.[1]
}
