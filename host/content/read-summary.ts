import { posix } from 'node:path'
import type { FileProblem } from '../db/queries/places.ts'
import { toVisible } from '../manifest/message-text.ts'

/** A line of SUMMARY.md: a page, or the heading of a group, with its depth below it. */
export type SummaryEntry = { title: string; depth: number; line: number; file?: string }

export const summaryFile = 'SUMMARY.md'

/** Deeper lists are cut: pages further down become siblings. */
const maxDepth = 20
const maxEntries = 20_000

/**
 * Reads the order and hierarchy of pages: nested lists of links to files, and headings of the second level for groups. Other
 * lines are text for people.
 */
export function parseSummary(markdown: string): { entries: SummaryEntry[]; problems: FileProblem[] } {
  const entries: SummaryEntry[] = []
  const problems: FileProblem[] = []
  let indents: number[] = []
  let groupDepth = 0
  for (const [n, text] of markdown.split('\n').entries()) {
    const line = n + 1
    const group = /^##[ \t]+(.{1,300})/.exec(text)?.[1]
    if (group !== undefined) {
      const title = plain(group)
      if (title !== '') entries.push({ title, depth: 0, line })
      groupDepth = title === '' ? 0 : 1
      indents = []
      continue
    }
    const link = /^([ \t]{0,4000})[*+-][ \t]+\[([^\]]{1,300})\]\(<?([^)>\s"]{1,2000})>?/.exec(text)
    if (link === null) continue
    const [, indent = '', title = '', target = ''] = link
    const width = indent.replaceAll('\t', '    ').length
    while (indents.length > 0 && (indents.at(-1) ?? 0) >= width) indents.pop()
    const depth = indents.length
    indents.push(width)
    if (depth === maxDepth) {
      const message = `Lists below ${maxDepth} levels are not read as such. Move the page "${plain(title)}" up.`
      problems.push({ file: summaryFile, line, message })
    }
    const file = toFile(target)
    if (file === undefined) {
      const message = `"${toVisible(target.slice(0, 200))}" is no file of the folder. Name a Markdown file of it.`
      problems.push({ file: summaryFile, line, message })
      continue
    }
    entries.push({ title: plain(title), depth: Math.min(depth, maxDepth) + groupDepth, line, file })
    if (entries.length === maxEntries) break
  }
  return { entries, problems }
}

const plain = (title: string): string =>
  toVisible(
    title
      .replace(/[*_`]/g, '')
      .replace(/[ \t#]+$/, '')
      .trim(),
  )

/** A link's target as a file of the folder; undefined for an address, and for a file elsewhere. */
function toFile(target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return undefined
  const [way = ''] = target.split('#')
  let decoded: string
  try {
    decoded = decodeURIComponent(way)
  } catch {
    return undefined
  }
  const file = posix.normalize(decoded.replace(/^\//, ''))
  return file.startsWith('..') || file === '.' || !/\.md$/i.test(file) ? undefined : file
}
