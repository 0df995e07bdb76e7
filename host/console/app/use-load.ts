import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export type Load<Value> = {
  value?: Value | undefined
  error?: unknown
  /** There is nothing to show yet. False while a value is read again. */
  isLoading: boolean
  reload: () => void
}

type State<Value> = Omit<Load<Value>, 'reload'> & { key: string }

/**
 * Reads something for a part of a page, and reads it again when `key` changes.
 *
 * @param everyMs reads again and again while the tab is visible
 */
export function useLoad<Value>(
  key: string,
  read: (signal: AbortSignal) => Promise<Value>,
  everyMs?: number,
): Load<Value> {
  const [state, setState] = useState<State<Value>>({ key, isLoading: true })
  const [turn, setTurn] = useState(0)
  const latest = useRef(read)
  latest.current = read
  /** An answer that is on its way is shown before the next one is asked for: it is here sooner. */
  const running = useRef<{ isAsked: boolean } | undefined>(undefined)
  const reload = useCallback(() => {
    if (running.current === undefined) setTurn((n) => n + 1)
    else running.current.isAsked = true
  }, [])

  // Before the page is painted: the request does not wait for that.
  useLayoutEffect(() => {
    const stop = new AbortController()
    const own = { isAsked: false }
    running.current = own
    const end = (next: (before: State<Value>) => State<Value>) => {
      if (stop.signal.aborted) return
      running.current = undefined
      setState(next)
      if (own.isAsked) setTurn((n) => n + 1)
    }
    setState((before) => {
      if (before.key !== key) return { key, isLoading: true }
      // The same state draws nothing: a list that is read again has many rows.
      return before.isLoading || before.value !== undefined ? before : { ...before, isLoading: true }
    })
    latest.current(stop.signal).then(
      (value) => end(() => ({ key, value, isLoading: false })),
      // A list that is read again and again stays on the screen: the banner says that the host does not answer.
      (error) => end((before) => ({ ...before, error, isLoading: false })),
    )
    return () => stop.abort()
  }, [key, turn])

  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, reload])

  return { ...(state.key === key ? state : { isLoading: true }), reload }
}

/** Keeps the value of the key before while the next one is read: a list does not blink with each letter of a search. */
export function useKept<Value>(load: Load<Value>): Load<Value> {
  const kept = useRef<Value>(undefined)
  if (load.value !== undefined) kept.current = load.value
  return load.isLoading && kept.current !== undefined ? { ...load, value: kept.current } : load
}
