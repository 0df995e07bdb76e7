import { createHash } from 'node:crypto'
import type { FileProblem } from '../db/queries/places.ts'
import { toVisible } from '../manifest/message-text.ts'
import { type OwnFiles, readInside } from '../manifest/read-inside.ts'
import { type Fields, maxTitle, readFrontMatter } from './front-matter.ts'
import { splitPage } from './markdown.ts'

/** A Markdown file of a space's folder, without its text. */
export type PageFile = {
  /** Relative to the folder, with `/`. */
  file: string
  /** Without the ending. That of `guides/README.md` is `guides`. */
  path: string
  /** From the front matter or the first heading. */
  title: string | undefined
  description: string | undefined
  /** From the front matter: the position among the pages beside it. */
  position: number | undefined
  digest: string
  /** Fields of the front matter that are wrong, and ignored. */
  problems: FileProblem[]
}

export type ReadPage = { page: PageFile; markdown: string } | { problem: FileProblem }

export const maxPageBytes = 1024 * 1024

/** Reads a hostile file as a page. Never throws. */
export async function readPage(
  folder: string,
  file: string,
  ownFiles: OwnFiles | undefined,
): Promise<ReadPage> {
  const reading = await readInside(folder, file, maxPageBytes, ownFiles)
  if ('problem' in reading) {
    const next = reading.problem.includes('bytes')
      ? 'Split it into several pages.'
      : 'Put a plain file there.'
    return { problem: { file, message: `The file ${reading.problem}. ${next}` } }
  }
  return parsePage(file, reading.bytes)
}

export function parsePage(file: string, bytes: Uint8Array): ReadPage {
  const decoded = decodeText(bytes)
  if ('message' in decoded) return { problem: { file, ...decoded } }
  const { frontMatter, markdown, heading } = splitPage(decoded.text)
  const read = frontMatter === undefined ? { fields: {}, wrong: [] } : readFrontMatter(frontMatter)
  if ('message' in read) return { problem: { file, ...read } }
  const { title = toTitle(heading), description, position }: Fields = read.fields
  const digest = createHash('sha256').update(bytes).digest('hex')
  const problems = read.wrong.map((mistake) => ({ file, ...mistake }))
  const page = { file, path: toPath(file), title, description, position, digest, problems }
  return { page, markdown }
}

/** A byte order mark is left out. */
export function decodeText(bytes: Uint8Array): { text: string } | { line?: number; message: string } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { message: 'The file is not UTF-8. Save it as UTF-8.' }
  }
  if (!text.includes('\0')) return { text }
  const line = text.slice(0, text.indexOf('\0')).split('\n').length
  return { line, message: 'A NUL byte: this is no text file. Remove the byte.' }
}

/** A title in its length. Half a surrogate pair is no text. */
export const toTitle = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : toVisible(text.slice(0, maxTitle).replace(/[\ud800-\udbff]$/, ''))

const toPath = (file: string): string => {
  const path = file.normalize('NFC').replace(/\.md$/i, '')
  return path.replace(/\/(readme|index)$/i, '')
}
