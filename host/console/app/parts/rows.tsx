import type { ComponentChildren } from 'preact'
import type { Rows } from '../lists/use-rows.ts'
import { texts } from '../texts.ts'
import { Loaded } from './state.tsx'

/** A list in pages: new rows wait behind a button, and the last line says how long rows are kept. */
export function RowsPage<Row, Of>({
  of: { list, showNew, page, newerPage, order },
  addressOf,
  kept,
  empty,
  filtered,
  children,
}: {
  of: Rows<Row, Of>
  /** The address of a page with the filter of this one. Without a page: of the newest rows. */
  addressOf: (page?: string) => string
  kept: (answer: Of) => string
  empty: ComponentChildren
  filtered: { clear: () => void } | undefined
  children: (rows: readonly Row[]) => ComponentChildren
}) {
  const { list: words } = texts
  const links = words.pages[order]
  return (
    <Loaded
      of={list}
      isEmpty={({ rows, waiting }) => rows.length + waiting === 0}
      empty={empty}
      filtered={filtered}
    >
      {({ rows, waiting, isMore, next, answer }) => (
        <>
          {waiting > 0 && (
            <button type="button" class="waiting" onClick={showNew}>
              {words.waiting(waiting, isMore)}
            </button>
          )}
          {children(rows)}
          <nav class="row pager" aria-label={words.pager}>
            {page !== undefined && <a href={addressOf()}>{links.newest}</a>}
            {newerPage && <a href={addressOf(newerPage)}>{links.newer}</a>}
            {next && <a href={addressOf(next)}>{links.older}</a>}
          </nav>
          <p class="until">{kept(answer)}</p>
        </>
      )}
    </Loaded>
  )
}
