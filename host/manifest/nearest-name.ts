import { closestMatch } from 'leven'

/**
 * The known name that a wrong one was most likely meant to be: about a third of its characters may differ,
 * case and separators aside.
 */
export function findNearestName(wrong: string, known: readonly string[]): string | undefined {
  // The work grows with both lengths, and nobody misspells a name into one of this length.
  if (wrong.length > 64) return undefined
  const plain = (name: string) => name.toLowerCase().replace(/[-_\s]/g, '')
  const byPlain = new Map(known.map((name) => [plain(name), name]))
  // Two letters swapped are two edits.
  const maxDistance = wrong.length < 4 ? 1 : Math.max(2, Math.floor(wrong.length / 3))
  const nearest = closestMatch(plain(wrong), [...byPlain.keys()], { maxDistance })
  return nearest === undefined ? undefined : byPlain.get(nearest)
}

/** A hint for a wrong name: the nearest known one if there is one, then all that are allowed. */
export function hintForName(wrong: string, known: readonly string[], kind = 'allowed'): string {
  const nearest = findNearestName(wrong, known)
  const listed = known.length > 20 ? `${known.slice(0, 20).join(', ')}, …` : known.join(', ')
  return `${nearest === undefined ? '' : `did you mean "${nearest}"? `}${kind}: ${listed || 'none'}`
}
