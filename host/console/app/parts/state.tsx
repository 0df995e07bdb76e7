import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import type { Load } from '../use-load.ts'
import { ErrorNote } from './error-note.tsx'

/** Nothing for the first 100 ms: an answer that is there by then needs no word about waiting. */
export function Loading() {
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), 100)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="loading" role="status">
      {isLate && (
        <>
          <span class="spinner" aria-hidden="true" />
          {texts.loading}
        </>
      )}
    </div>
  )
}

/** A part of a page in each of its states: loading, failed, nothing yet, nothing for this filter, or there. */
export function Loaded<Value>({
  of: { value, error, reload },
  isEmpty,
  empty,
  filtered,
  children,
}: {
  of: Load<Value>
  isEmpty?: (value: Value) => boolean
  /** What to do when there is nothing yet. */
  empty?: ComponentChildren
  /** Given while a filter is set: clears it. */
  filtered?: { clear: () => void } | undefined
  children: (value: Value) => ComponentChildren
}) {
  if (value === undefined)
    return error === undefined ? (
      <Loading />
    ) : (
      <ErrorNote error={error} next={{ label: texts.tryAgain, act: reload }} />
    )
  if (!isEmpty?.(value)) return <>{children(value)}</>
  if (filtered === undefined) return <div class="empty">{empty}</div>
  return (
    <div class="empty">
      <p>{texts.nothingForFilter}</p>
      <button type="button" onClick={filtered.clear}>
        {texts.clearFilter}
      </button>
    </div>
  )
}
