/** Tells that deliveries have changed, to those who wait for it. What has changed is in the database. */
export type Changes = {
  notify: () => void
  /** Settles at the next change, or after `ms`. */
  next: (ms: number) => Promise<void>
}

export function createChanges(): Changes {
  const waiting = new Set<() => void>()
  return {
    notify() {
      for (const settle of waiting) settle()
    },
    next: (ms) =>
      new Promise((resolve) => {
        const settle = () => {
          clearTimeout(timer)
          waiting.delete(settle)
          resolve()
        }
        const timer = setTimeout(settle, ms)
        waiting.add(settle)
      }),
  }
}
