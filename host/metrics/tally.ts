/** What is counted for one combination of labels: plain numbers, that whoever counts adds to. */
export type Tally<T> = {
  /** The cell of these labels. The same labels give the same cell. */
  at: (first: string, second: string, third: string) => T
  each: (visit: (labels: [first: string, second: string, third: string], cell: T) => void) => void
}

export const other = 'other'

/**
 * Cells by three labels. prom-client joins and hashes the labels at every count, which is too dear for something that
 * is done ten thousand times a second; here it is three look-ups, and nothing is made but a new cell.
 *
 * @param mostCells Names of integrations and events come from whoever deploys and publishes: after so many
 *   combinations each new one is counted as `other`, so that nobody fills this memory or that of who scrapes it.
 */
export function createTally<T>(mostCells: number, createCell: () => T): Tally<T> {
  const cells = new Map<string, Map<string, Map<string, T>>>()
  let count = 0
  const find = (first: string, second: string, third: string) => cells.get(first)?.get(second)?.get(third)
  return {
    at(first, second, third) {
      const found = find(first, second, third)
      if (found !== undefined) return found
      if (count < mostCells) return add(first, second, third)
      // The outcome is kept as long as it can be: it is one of few, and what an alarm looks at.
      return find(other, other, third) ?? (count < mostCells + 100 ? add(other, other, third) : last())
    },
    each(visit) {
      for (const [first, seconds] of cells) {
        for (const [second, thirds] of seconds) {
          for (const [third, cell] of thirds) visit([first, second, third], cell)
        }
      }
    },
  }

  function last(): T {
    return find(other, other, other) ?? add(other, other, other)
  }

  function add(first: string, second: string, third: string): T {
    const seconds = cells.get(first) ?? new Map<string, Map<string, T>>()
    cells.set(first, seconds)
    const thirds = seconds.get(second) ?? new Map<string, T>()
    seconds.set(second, thirds)
    const cell = createCell()
    thirds.set(third, cell)
    count += 1
    return cell
  }
}
