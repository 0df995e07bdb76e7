import type { Page } from '../../../../../schemas/generated/api/content.ts'

/** All pages of a tree, each before those below it. */
export const flatten = (pages: readonly Page[]): Page[] =>
  pages.flatMap((page) => [page, ...flatten(page.pages)])

/** The first page with a text: what a space shows first. */
export const firstPage = (pages: readonly Page[]): Page | undefined =>
  flatten(pages).find(({ type }) => type === 'document')

/** The ids of the pages above a page, and its own. */
export function idsAbove(all: readonly Page[], id: string | undefined): Set<string> {
  const byId = new Map(all.map((page) => [page.id, page]))
  const ids = new Set<string>()
  for (let at = byId.get(id ?? ''); at !== undefined && !ids.has(at.id); at = byId.get(at.parent ?? ''))
    ids.add(at.id)
  return ids
}

/**
 * The page that a link of another page names. The page `guides` may be the file `guides.md` or `guides/README.md`: an address is
 * looked up from the folder that the page more likely is in, then from the other one.
 */
export function findLinked(paths: ReadonlySet<string>, from: string, address: string): string | undefined {
  const own = from.split('/')
  const bases = [own.slice(0, -1), own]
  const hasBelow = [...paths].some((path) => path.startsWith(`${from}/`))
  for (const base of hasBelow ? bases.reverse() : bases) {
    const path = resolvePath(address.startsWith('/') ? [] : base, address)
    if (path === undefined) continue
    const name = path.replace(/\.md$/i, '').replace(/(^|\/)(readme|index)$/i, '')
    for (const one of [name, path]) if (paths.has(one)) return one
  }
  return undefined
}

function resolvePath(base: readonly string[], address: string): string | undefined {
  const parts = [...base]
  for (const part of address.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}
