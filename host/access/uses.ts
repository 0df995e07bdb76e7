import { createWriteBehind } from '../db/write-behind.ts'

const betweenMs = 60_000
/** Uses of a second are noted together. */
const afterMs = 1_000

export type Uses = {
  /** Notes the use of a token or session, at most once a minute. A request does not wait for it. */
  note: (used: { id: string; lastUsedAt: number | null }) => void
  close: () => Promise<void>
}

/** @param touch stores a use, unless one was stored after `unlessAfter` */
export function createUses(
  touch: (use: { id: string; at: number; unlessAfter: number }) => Promise<void>,
  onDefect: (error: unknown) => void,
): Uses {
  const used = new Map<string, number>()
  const behind = createWriteBehind(store, afterMs, onDefect)
  return {
    note({ id, lastUsedAt }) {
      const now = Date.now()
      if (used.has(id) || now - (lastUsedAt ?? 0) < betweenMs) return
      used.set(id, now)
      behind.note()
    },
    close: behind.close,
  }

  async function store(): Promise<void> {
    for (const [id, at] of [...used]) {
      used.delete(id)
      await touch({ id, at, unlessAfter: at - betweenMs })
    }
  }
}
