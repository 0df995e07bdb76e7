import { posix } from 'node:path'
import type { FileProblem } from '../db/queries/places.ts'
import { toVisible } from '../manifest/message-text.ts'
import { parseBlocks, parseInline, type Token, toPlainText } from './markdown.ts'
import { toTitle } from './read-page.ts'

/** A line of SUMMARY.md: a page, or a group without a file, with its depth below the others. */
export type SummaryEntry = { title: string; depth: number; line: number; file?: string }

export const summaryFile = 'SUMMARY.md'

/** Deeper lists are cut: pages further down become siblings. */
const maxDepth = 20
const maxLines = 20_000

/**
 * Reads the order and hierarchy of pages. An item of a nested list is a page where it links to a file, else a group. A
 * heading of the second level is a group, or a page where it links to a file, with the lists below it. Other text is for
 * people.
 */
export function parseSummary(markdown: string): { entries: SummaryEntry[]; problems: FileProblem[] } {
  const entries: SummaryEntry[] = []
  const problems: FileProblem[] = []
  let groupDepth = 0
  for (const { kind, depth, line, words } of listLines(markdown, problems)) {
    const link = findLink(words)
    const file = link && toFile(link.href)
    const title = toTitle(toPlainText(link?.words ?? words)) ?? ''
    if (kind === 'heading') groupDepth = title === '' ? 0 : 1
    if (kind === 'item' && depth === maxDepth) {
      const message = `Lists below ${maxDepth} levels are not read as such. Move the page "${title}" up.`
      problems.push({ file: summaryFile, line, message })
    }
    if (kind === 'item' && link !== undefined && file === undefined) {
      const message = `"${toVisible(link.href.slice(0, 200))}" is no file of the folder. Name a Markdown file of it.`
      problems.push({ file: summaryFile, line, message })
      continue
    }
    if (title === '' && file === undefined) continue
    const entryDepth = kind === 'heading' ? 0 : Math.min(depth, maxDepth) + groupDepth
    entries.push({ title, depth: entryDepth, line, ...(file !== undefined && { file }) })
  }
  return { entries, problems }
}

type Line = { kind: 'item' | 'heading'; depth: number; line: number; words: Token[] }

/** The first text of each list item, and headings of the second level. Those in quotes belong to another text. */
function* listLines(markdown: string, problems: FileProblem[]): Generator<Line> {
  const { tokens, env } = parseBlocks(firstLines(markdown, problems))
  let depth = -1
  let quotes = 0
  /** The level of an item without a text so far. */
  let open: number | undefined
  for (const [n, { type, level, nesting, content, map }] of tokens.entries()) {
    if (/^blockquote_/.test(type)) quotes += nesting
    if (/^(bullet|ordered)_list_/.test(type)) {
      depth += nesting
      open = undefined
    }
    if (type === 'list_item_open') open = level
    if (type !== 'inline' || quotes > 0) continue
    const isItem = open !== undefined && level === open + 2
    const isHeading = level === 1 && tokens[n - 1]?.tag === 'h2'
    if (!isItem && !isHeading) continue
    open = undefined
    const line = (map?.[0] ?? 0) + 1
    yield { kind: isItem ? 'item' : 'heading', depth, line, words: parseInline(content, env) }
  }
}

function firstLines(markdown: string, problems: FileProblem[]): string {
  const lines = markdown.split(/\r\n?|\n/, maxLines + 1)
  if (lines.length <= maxLines) return markdown
  const message = `The list has more than ${maxLines} lines. The rest is not read: make several spaces of it.`
  problems.push({ file: summaryFile, line: maxLines + 1, message })
  return lines.slice(0, maxLines).join('\n')
}

/** The first link. One without an address is a page that is not written yet: it counts as text. */
function findLink(words: readonly Token[]): { href: string; words: Token[] } | undefined {
  const start = words.findIndex((token) => token.type === 'link_open' && token.attrGet('href') !== '')
  if (start === -1) return undefined
  const end = words.findIndex(({ type }, n) => n > start && type === 'link_close')
  return { href: String(words[start]?.attrGet('href')), words: words.slice(start + 1, end) }
}

/** The address of a link as a file of the folder; undefined for an address, and for a file elsewhere. */
function toFile(href: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return undefined
  const [way = ''] = href.split('#')
  let decoded: string
  try {
    decoded = decodeURIComponent(way)
  } catch {
    return undefined
  }
  const file = posix.normalize(decoded.replace(/^\//, ''))
  return file.startsWith('..') || file === '.' || !/\.md$/i.test(file) ? undefined : file
}
