import { keepLast } from '../../keep-last.ts'

/** Who waits for lookups, in a line of its own for each asker. */
export type LookupLines<Lookup> = {
  /** Puts it at the end of the asker's line, unless it stands there. */
  join: (asker: string, lookup: Lookup) => void
  /** Takes out the first that is still wanted, of the asker who has had the least. */
  next: () => { asker: string; lookup: Lookup } | undefined
}

/** How long each asker's lookups have held a place, in ms. */
export type Shares = {
  /** Who asks for nothing meanwhile saves nothing up: it begins where the others are. */
  enter: (asker: string) => void
  spend: (asker: string, ms: number) => void
  of: (asker: string) => number
  /** Says whose turn it is. */
  turnTo: (asker: string) => void
}

/** @param remembered askers of whom it is kept what they have had */
export function createShares(remembered: number): Shares {
  // In the order of their last use.
  const spent = new Map<string, number>()
  let reached = 0
  const set = (asker: string, ms: number) => keepLast(spent, asker, ms, remembered)
  const of = (asker: string): number => spent.get(asker) ?? reached
  return {
    enter: (asker) => set(asker, Math.max(of(asker), reached)),
    spend: (asker, ms) => set(asker, of(asker) + ms),
    of,
    turnTo: (asker) => {
      reached = Math.max(reached, of(asker))
    },
  }
}

/**
 * Turns by time, not by number: who asks for names that never answer holds a place for seconds each time, and others would
 * wait as long for each of theirs.
 *
 * @param isWanted whether it is still to be begun: it may have been meanwhile, for another asker
 */
export function createLookupLines<Lookup>(
  shares: Shares,
  isWanted: (lookup: Lookup) => boolean,
): LookupLines<Lookup> {
  const lines = new Map<string, Set<Lookup>>()
  return {
    join(asker, lookup) {
      const line = lines.get(asker)
      if (line !== undefined) return void line.add(lookup)
      shares.enter(asker)
      lines.set(asker, new Set([lookup]))
    },
    next() {
      for (;;) {
        const asker = leastOf(lines.keys(), shares)
        if (asker === undefined) return undefined
        const lookup = takeFirst(lines.get(asker), isWanted)
        if (lines.get(asker)?.size === 0) lines.delete(asker)
        if (lookup === undefined) continue
        shares.turnTo(asker)
        return { asker, lookup }
      }
    },
  }
}

function leastOf(askers: Iterable<string>, shares: Shares): string | undefined {
  let least: string | undefined
  for (const asker of askers) {
    if (least === undefined || shares.of(asker) < shares.of(least)) least = asker
  }
  return least
}

function takeFirst<Lookup>(
  line: Set<Lookup> | undefined,
  isWanted: (lookup: Lookup) => boolean,
): Lookup | undefined {
  for (const lookup of line ?? []) {
    line?.delete(lookup)
    if (isWanted(lookup)) return lookup
  }
  return undefined
}
