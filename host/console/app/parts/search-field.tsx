import { useLayoutEffect, useRef, useState } from 'preact/hooks'

const quietMs = 250

/** A filter by words. Its value is told when the typing pauses: each value is an address and a request. */
export function SearchField({
  label,
  value,
  onValue,
}: {
  label: string
  value: string
  onValue: (value: string) => void
}) {
  const [typed, setTyped] = useState(value)
  const told = useRef(value)
  // The way back of the browser, and a cleared filter, change the value from outside. It is shown
  // before the page is painted: later it would replace what is typed by then.
  useLayoutEffect(() => {
    if (value === told.current) return
    told.current = value
    setTyped(value)
  }, [value])
  useLayoutEffect(() => {
    if (typed === told.current) return
    const timer = setTimeout(() => {
      told.current = typed
      onValue(typed)
    }, quietMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      autocomplete="off"
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  )
}
