import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useLate } from './action.tsx'
import { ErrorNote } from './error-note.tsx'

/** A form keeps what was typed when its request fails, and shows what failed above its button. */
export function Form({
  children,
  submit,
  label,
  reason,
  kind = 'main',
}: {
  children: ComponentChildren
  submit: () => Promise<unknown>
  label: string
  reason?: string | undefined
  /** `bad`: it destroys something. */
  kind?: 'main' | 'bad'
}) {
  const [error, setError] = useState<unknown>()
  const [isRunning, setIsRunning] = useState(false)
  const running = useRef(false)
  const isLate = useLate(isRunning)
  const run = async (event: Event) => {
    event.preventDefault()
    if (running.current || reason !== undefined) return
    running.current = true
    setIsRunning(true)
    setError(undefined)
    try {
      await submit()
    } catch (thrown) {
      setError(thrown)
    } finally {
      running.current = false
      setIsRunning(false)
    }
  }
  return (
    <form onSubmit={run}>
      {children}
      {error !== undefined && <ErrorNote error={error} />}
      <div>
        <button
          type="submit"
          class={kind}
          aria-busy={isRunning}
          title={reason}
          aria-description={reason}
          aria-disabled={reason === undefined ? undefined : 'true'}
        >
          {isLate && <span class="spinner" aria-hidden="true" />}
          {label}
        </button>
      </div>
    </form>
  )
}
