type Row = { id: string }

/**
 * Puts the state of now into the rows on the screen. Rows that are newer than these wait, so that no row moves below the
 * pointer.
 *
 * @param fresh the newest rows of the same list, the newest first, as many as are shown or more
 * @param isWhole `fresh` is the whole list
 */
export function mergeRows<R extends Row>(
  shown: readonly R[],
  fresh: readonly R[],
  isWhole: boolean,
): { rows: R[]; waiting: number } {
  const newest = shown[0]?.id ?? ''
  const oldest = fresh.at(-1)?.id ?? ''
  const now = new Map(fresh.map((row) => [row.id, row]))
  return {
    // A row that is missing among its neighbours does not match the filter any more.
    rows: shown.flatMap((row) => now.get(row.id) ?? (!isWhole && row.id < oldest ? row : [])),
    waiting: fresh.filter(({ id }) => id > newest).length,
  }
}
