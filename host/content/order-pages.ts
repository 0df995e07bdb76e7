import type { FileProblem } from '../db/queries/places.ts'
import type { PageFile } from './read-page.ts'
import { type SummaryEntry, summaryFile } from './read-summary.ts'

/** A page or group with its position: a list has parents before the pages below them. */
export type PlacedPage = {
  path: string
  parent: string | undefined
  title: string
  file: PageFile | undefined
}

type Node = { path: string; title: string; file: PageFile | undefined; below: Node[] }

/**
 * Orders pages: first those of SUMMARY.md, as it has them. The others follow by folder: a page is below the page of the
 * nearest folder that has one, by `position`, then by name.
 */
export function orderPages(
  files: readonly PageFile[],
  entries: readonly SummaryEntry[],
): { pages: PlacedPage[]; problems: FileProblem[] } {
  const problems: FileProblem[] = []
  const byPath = keepOneForEachPath(files, problems)
  const byFile = new Map([...byPath.values()].map((file) => [file.file.normalize('NFC'), file]))
  const top: Node[] = []
  const placed = new Map<string, Node>()
  const open: { depth: number; node: Node }[] = []
  for (const entry of entries) {
    const node = toNode(entry)
    // Entries below a missing page are below its parent.
    while ((open.at(-1)?.depth ?? -1) >= entry.depth) open.pop()
    if (node === undefined) continue
    placed.set(node.path, node)
    const list = open.at(-1)?.node.below ?? top
    list.push(node)
    open.push({ depth: entry.depth, node })
  }
  for (const file of inFolderOrder([...byPath.values()])) {
    if (placed.has(file.path)) continue
    const node: Node = { path: file.path, title: file.title ?? file.path, file, below: [] }
    placed.set(file.path, node)
    const list = nearestFolderPage(file.path)?.below ?? top
    list.push(node)
  }
  return { pages: flatten(top), problems }

  function toNode({ title, line, file: name }: SummaryEntry): Node | undefined {
    if (name === undefined) return { path: freePath(toSlug(title)), title, file: undefined, below: [] }
    const file = byFile.get(name.normalize('NFC'))
    const message =
      file === undefined
        ? `The page ${name} is not there, or is left out. Make the file, or remove the line.`
        : placed.has(file.path)
          ? `The page ${name} stands in the list twice. Remove one of both.`
          : undefined
    if (message !== undefined) problems.push({ file: summaryFile, line, message })
    if (message !== undefined || file === undefined) return undefined
    return { path: file.path, title: file.title ?? (title || file.path), file, below: [] }
  }

  function freePath(slug: string): string {
    let path = slug
    for (let n = 2; placed.has(path) || byPath.has(path); n += 1) path = `${slug}-${n}`
    return path
  }

  function nearestFolderPage(path: string): Node | undefined {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = placed.get(path.slice(0, at))
      if (folder !== undefined) return folder
    }
    return undefined
  }
}

function keepOneForEachPath(files: readonly PageFile[], problems: FileProblem[]): Map<string, PageFile> {
  const byPath = new Map<string, PageFile>()
  for (const file of files) {
    const other = byPath.get(file.path)
    if (other === undefined) byPath.set(file.path, file)
    else {
      const message = `The page "${file.path}" comes from ${other.file} already. Rename one of both files.`
      problems.push({ file: file.file, message })
    }
  }
  return byPath
}

const collator = new Intl.Collator('en', { numeric: true })

/** A page comes before the pages of its folder. A folder without a page is sorted by its name. */
function inFolderOrder(files: readonly PageFile[]): PageFile[] {
  const positions = new Map(files.map(({ path, position }) => [path, position ?? Number.POSITIVE_INFINITY]))
  const keyed = files.map((file) => {
    const parts = file.path.split('/')
    const keys = parts.map((name, n) => ({
      // The page of a root's README comes first.
      first: n === 0 && /^(readme|index)$/i.test(name) ? 0 : 1,
      position: positions.get(parts.slice(0, n + 1).join('/')) ?? Number.POSITIVE_INFINITY,
      name,
    }))
    return { file, keys }
  })
  keyed.sort((one, other) => {
    for (const [n, a] of one.keys.entries()) {
      const b = other.keys[n]
      if (b === undefined) return 1
      if (a.name === b.name) continue
      if (a.first !== b.first) return a.first - b.first
      if (a.position !== b.position) return a.position - b.position
      return collator.compare(a.name, b.name) || (a.name < b.name ? -1 : 1)
    }
    return one.keys.length - other.keys.length
  })
  return keyed.map(({ file }) => file)
}

function flatten(top: readonly Node[]): PlacedPage[] {
  const pages: PlacedPage[] = []
  const open = top.map((node) => ({ node, parent: undefined as string | undefined })).reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, title, file, below } = next.node
    pages.push({ path, parent: next.parent, title, file })
    for (const node of below.toReversed()) open.push({ node, parent: path })
  }
  return pages
}

const toSlug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '') || 'group'
