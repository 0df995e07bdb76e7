import type { ComponentChildren } from 'preact'
import { texts } from '../../texts.ts'

/** The filters above a list. `clear` is given while one is set. An empty list has this button in the place of its rows. */
export const Filters = ({
  clear,
  children,
}: {
  clear: (() => void) | undefined
  children: ComponentChildren
}) => (
  <search class="filters" aria-label={texts.list.filters}>
    {children}
    {clear && (
      <button type="button" onClick={clear}>
        {texts.clearFilter}
      </button>
    )}
  </search>
)
