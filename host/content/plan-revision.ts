import type { PageHead, PageText } from '../db/queries/pages.ts'

/** A page as the next revision should have it. Its position in a list is its position in the space. */
export type WantedPage = Omit<PageHead, 'position'> & {
  /** Called only where the revision stores the page. */
  readText: () => Promise<PageText>
}

export type Plan = {
  /** Pages that are new or differ. */
  changed: { page: PageHead; isNew: boolean; readText: WantedPage['readText'] }[]
  /** Ids of pages that are gone. */
  gone: string[]
}

const compared = ['kind', 'path', 'parentId', 'title', 'description', 'digest'] as const

/** Compares the pages of a revision with those that are wanted. An unchanged page costs no row, also beside a new one. */
export function planRevision(current: readonly PageHead[], wanted: readonly WantedPage[]): Plan {
  const known = new Map(current.map((page) => [page.id, page]))
  const positions = findPositions(wanted.map(({ id }) => known.get(id)?.position))
  const changed: Plan['changed'] = []
  for (const [n, { readText, ...head }] of wanted.entries()) {
    const before = known.get(head.id)
    const page = { ...head, position: positions[n] ?? n }
    const isSame = before?.position === page.position && compared.every((name) => before[name] === page[name])
    if (!isSame) changed.push({ page, isNew: before === undefined, readText })
  }
  const kept = new Set(wanted.map(({ id }) => id))
  return { changed, gone: current.flatMap(({ id }) => (kept.has(id) ? [] : [id])) }
}

/**
 * Positions in rising order. As many known positions as possible stay: a page that moves, or comes between two others,
 * leaves these as they are.
 */
export function findPositions(known: readonly (number | undefined)[]): number[] {
  const stays = longestRising(known)
  const positions: number[] = []
  let last: number | undefined
  for (let n = 0; n < known.length; ) {
    const position = stays.has(n) ? known[n] : undefined
    if (position !== undefined) {
      positions.push(position)
      last = position
      n += 1
      continue
    }
    let end = n
    while (end < known.length && !stays.has(end)) end += 1
    positions.push(...between(last, known[end], end - n))
    last = positions.at(-1)
    n = end
  }
  // Halved often enough, a gap has no number left: all pages get new positions.
  const isRising = positions.every((position, n) => n === 0 || position > (positions[n - 1] ?? position))
  return isRising ? positions : known.map((_, n) => n + 1)
}

function between(low: number | undefined, high: number | undefined, count: number): number[] {
  const start = low ?? (high === undefined ? 0 : high - count - 1)
  const step = high === undefined ? 1 : (high - start) / (count + 1)
  return Array.from({ length: count }, (_, n) => start + step * (n + 1))
}

/** The indexes of a longest rising series, by patience sorting. */
function longestRising(values: readonly (number | undefined)[]): Set<number> {
  /** For each length the index of the smallest value that ends such a series. */
  const ends: number[] = []
  const previous = new Map<number, number | undefined>()
  for (const [n, value] of values.entries()) {
    if (value === undefined) continue
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((values[ends[middle] ?? 0] ?? 0) < value) low = middle + 1
      else high = middle
    }
    previous.set(n, ends[low - 1])
    ends[low] = n
  }
  const indexes = new Set<number>()
  for (let at = ends.at(-1); at !== undefined; at = previous.get(at)) indexes.add(at)
  return indexes
}
