type Row = { id: string }

/**
 * Puts the state of now into the rows on the screen. Rows that are new among these wait, so that no row moves below the
 * pointer: newer ones, and older ones that match the filter only now.
 *
 * @param fresh the newest rows of the same list, the newest first, as many as are shown or more
 * @param isWhole `fresh` is the whole list
 * @param isEnd no row followed those on the screen
 */
export function mergeRows<R extends Row>(
  shown: readonly R[],
  fresh: readonly R[],
  { isWhole, isEnd }: { isWhole: boolean; isEnd: boolean },
): { rows: R[]; waiting: number } {
  const oldestFresh = fresh.at(-1)?.id ?? ''
  const oldestShown = isEnd ? '' : (shown.at(-1)?.id ?? '')
  const now = new Map(fresh.map((row) => [row.id, row]))
  const known = new Set(shown.map(({ id }) => id))
  return {
    // A row that is missing among its neighbours does not match the filter any more.
    rows: shown.flatMap((row) => now.get(row.id) ?? (!isWhole && row.id < oldestFresh ? row : [])),
    waiting: fresh.filter(({ id }) => !known.has(id) && id > oldestShown).length,
  }
}
