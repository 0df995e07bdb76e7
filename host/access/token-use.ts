import type { Db } from '../db/db.ts'
import { touchToken } from '../db/queries/tokens.ts'
import { createWriteBehind } from '../db/write-behind.ts'

const betweenMs = 60_000
/** Tokens that are used together are noted together. */
const afterMs = 1_000

export type TokenUse = {
  /** Notes the use of a token, at most once a minute. A request does not wait for it. */
  note: (token: { id: string; lastUsedAt: number | null }) => void
  close: () => Promise<void>
}

export function createTokenUse(db: Db, onDefect: (error: unknown) => void): TokenUse {
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
      await touchToken(db, { id, at, unlessAfter: at - betweenMs })
    }
  }
}
