import type { Db } from './db.ts'

// Settings and what is copied from them are stored encrypted. The host's key is in no database.

/** Encrypts texts with the host's key. `open` throws when another key has encrypted the text. */
type Sealer = { seal: (text: string) => string; open: (sealed: string) => string }

/** Gives the host's key to the queries of these connections, and of their transactions. */
export function useSealer(connections: readonly Db[], sealer: Sealer): void {
  for (const db of connections) db.userParams = { ...db.userParams, sealer }
}

/** No sealed text is equal to it. It tells only that nothing is there. */
const empty = '{}'

/** The stored text of an object. */
export function sealJson(db: Db, value: object): string {
  const text = JSON.stringify(value)
  return text === empty ? empty : sealerOf(db).seal(text)
}

/** @returns undefined when it was encrypted with another key */
export function openJson(db: Db, stored: string): Record<string, unknown> | undefined {
  if (stored === empty) return {}
  const sealer = sealerOf(db)
  try {
    return JSON.parse(sealer.open(stored))
  } catch {
    return undefined
  }
}

function sealerOf(db: Db): Sealer {
  const { sealer } = db.userParams
  if (sealer === undefined) throw new Error('The queries have no key: `useSealer` comes first.')
  return sealer
}
