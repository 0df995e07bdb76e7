import { createHash } from 'node:crypto'
import { isMap, parseDocument } from 'yaml'
import type { FileProblem } from '../db/queries/places.ts'
import { toVisible } from '../manifest/message-text.ts'
import { type OwnFiles, readInside } from '../manifest/read-inside.ts'

/** A Markdown file of a space's folder, without its text. */
export type PageFile = {
  /** Relative to the folder, with `/`. */
  file: string
  /** Without the ending. That of `guides/README.md` is `guides`. */
  path: string
  /** From the front matter or the first heading. */
  title: string | undefined
  description: string | undefined
  /** From the front matter: the place among the pages beside it. */
  position: number | undefined
  digest: string
}

export type ReadPage = { page: PageFile; markdown: string } | { problem: FileProblem }

export const maxPageBytes = 1024 * 1024
const maxFrontMatter = 16 * 1024
const maxTitle = 200
const maxDescription = 1000

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
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { problem: { file, message: 'The file is not UTF-8. Save it as UTF-8.' } }
  }
  if (text.includes('\0')) {
    const line = lineAt(text, text.indexOf('\0'))
    return { problem: { file, line, message: 'A NUL byte: this is no text file. Remove the byte.' } }
  }
  const { frontMatter, markdown } = splitFrontMatter(text)
  const fields = readFields(frontMatter)
  if ('message' in fields) return { problem: { file, ...fields } }
  const digest = createHash('sha256').update(bytes).digest('hex')
  const { title = findHeading(markdown), ...others } = fields
  return { page: { file, path: toPath(file), title, ...others, digest }, markdown }
}

const toPath = (file: string): string => {
  const path = file.normalize('NFC').replace(/\.md$/i, '')
  return path.replace(/\/(readme|index)$/i, '')
}

/** A rule of hyphens at the top, without a second one, is no front matter. */
function splitFrontMatter(text: string): { frontMatter: string | undefined; markdown: string } {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0]
  if (opening === undefined) return { frontMatter: undefined, markdown: text }
  const rest = text.slice(opening.length)
  const closing = /^---[ \t]*(?:\r?\n|$)/m.exec(rest)
  if (closing === null) return { frontMatter: undefined, markdown: text }
  const markdown = rest.slice(closing.index + closing[0].length).replace(/^\r?\n/, '')
  return { frontMatter: rest.slice(0, closing.index), markdown }
}

type Fields = Pick<PageFile, 'title' | 'description' | 'position'>
type Mistake = { line: number; message: string }

/** Reads `title`, `description` and `position`. Other programs have more fields: these are ignored. */
function readFields(frontMatter: string | undefined): Fields | Mistake {
  const none: Fields = { title: undefined, description: undefined, position: undefined }
  if (frontMatter === undefined || frontMatter.trim() === '') return none
  if (frontMatter.length > maxFrontMatter) {
    return { line: 1, message: `The front matter is longer than ${maxFrontMatter} characters. Shorten it.` }
  }
  const document = parseDocument(frontMatter, { uniqueKeys: false, logLevel: 'silent' })
  const [error] = document.errors
  if (error !== undefined) {
    const line = (error.linePos?.[0].line ?? 1) + 1
    // Thousands of brackets overflow the stack of the parser.
    const isDeep = error.message.includes('call stack')
    const reason = isDeep ? 'nested too deeply' : error.message.split(/ at line \d+/)[0]
    return { line, message: `The front matter is not valid YAML: ${reason}. Mend it or remove it.` }
  }
  if (document.contents !== null && !isMap(document.contents)) {
    return { line: 2, message: 'The front matter is no map. Write fields such as "title: Start here".' }
  }
  const get = (name: string): unknown => (document.has(name) ? document.get(name) : undefined)
  return toFields(get('title'), get('description'), get('position')) ?? none
}

function toFields(title: unknown, description: unknown, position: unknown): Fields | Mistake {
  for (const [name, value, most] of [
    ['title', title, maxTitle],
    ['description', description, maxDescription],
  ] as const) {
    if (value === undefined || value === null) continue
    const isText = typeof value === 'string' || typeof value === 'number'
    if (!isText || String(value).trim() === '' || String(value).length > most) {
      const message = `"${name}" of the front matter is no text of 1 to ${most} characters. Put it in quotes.`
      return { line: 2, message }
    }
  }
  const isNumber = typeof position === 'number' && Number.isFinite(position)
  if (position !== undefined && position !== null && !isNumber) {
    return { line: 2, message: '"position" of the front matter is no number. Write one, or remove it.' }
  }
  return { title: toText(title), description: toText(description), position: isNumber ? position : undefined }
}

const toText = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : toVisible(String(value).trim())

/** The first heading outside a code block, in the first lines. */
function findHeading(markdown: string): string | undefined {
  let fence: string | undefined
  for (const line of markdown.slice(0, 16 * 1024).split('\n', 200)) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1]
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence
    if (fence !== undefined || !/^#{1,6}[ \t]/.test(line)) continue
    const text = line.slice(0, 1000).replace(/^#+/, '').trim().replace(/ #+$/, '').trim()
    if (text !== '') return toVisible(text.slice(0, maxTitle))
  }
  return undefined
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length
