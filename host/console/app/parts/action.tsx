import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/**
 * A button that runs something. It shows that the action runs once this takes longer than 100 ms, and takes no second press
 * meanwhile. With `reason` it is disabled and says why: a disabled button of HTML could not be focused to read the reason.
 */
export function Action({
  children,
  act,
  reason,
  kind = '',
  type = 'button',
}: {
  children: ComponentChildren
  act?: () => Promise<unknown> | unknown
  reason?: string | undefined
  kind?: string
  type?: 'button' | 'submit'
}) {
  const [isRunning, setIsRunning] = useState(false)
  const isLate = useLate(isRunning)
  const press = async (event: Event) => {
    if (reason !== undefined || isRunning) return event.preventDefault()
    if (act === undefined) return
    setIsRunning(true)
    try {
      await act()
    } finally {
      setIsRunning(false)
    }
  }
  return (
    <button
      type={type}
      class={kind}
      onClick={press}
      title={reason}
      aria-description={reason}
      aria-disabled={reason === undefined ? undefined : 'true'}
      aria-busy={isRunning}
    >
      {isLate && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

export function useLate(isRunning: boolean): boolean {
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    setIsLate(false)
    if (!isRunning) return
    const timer = setTimeout(() => setIsLate(true), 100)
    return () => clearTimeout(timer)
  }, [isRunning])
  return isLate
}
