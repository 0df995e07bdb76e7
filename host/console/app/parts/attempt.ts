import { useState } from 'preact/hooks'

/** Runs what a control does, and keeps its error for a note beside it. The next attempt removes the note. */
export function useAttempt(): { error: unknown; attempt: (act: () => Promise<unknown>) => Promise<void> } {
  const [error, setError] = useState<unknown>()
  const attempt = async (act: () => Promise<unknown>) => {
    setError(undefined)
    try {
      await act()
    } catch (thrown) {
      setError(thrown)
    }
  }
  return { error, attempt }
}
