import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db.ts'
import { isPostgres } from '../sql.ts'

/** Who has something read that may be far, or much. */
export type Asker = {
  /** Whose turn it takes: that of an organization, or of all operators. */
  line: string
  /** Aborted when nobody waits for it any more. */
  gone?: AbortSignal
}

/** With whom somebody shares turns. */
export const lineOf = ({ organizationId }: { organizationId?: string }): string =>
  organizationId ?? 'operators'

/**
 * Of those who ask for what may take a while, each line has a turn after the other: however much one organization asks for at once,
 * others wait for a turn of it, and not for all that it asks for.
 *
 * @returns `undefined` for whoever has left before it was their turn: the database may be closed by then
 */
export async function inTurn<T>(
  db: Db,
  { line, gone }: Asker,
  read: () => Promise<T>,
): Promise<T | undefined> {
  const turns = isPostgres(db) ? ofPostgres : ofSqlite
  await turns.take(line)
  const began = performance.now()
  try {
    return gone?.aborted ? undefined : await read()
  } finally {
    turns.give(line, performance.now() - began)
  }
}

/**
 * Threads of this process read SQLite: after each turn comes a pause that is as long, so that it is at most half of a processor.
 * PostgreSQL takes its own time, over as many connections as there are turns.
 */
const ofSqlite = createTurns({ most: 1, pauses: true })
const ofPostgres = createTurns({ most: 2, pauses: false })

function createTurns({ most, pauses }: { most: number; pauses: boolean }) {
  /** Those who wait, by line; whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>()
  /** Lines that have a turn. */
  const taken: string[] = []

  return {
    take(line: string): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      const before = waiting.get(line)
      if (before === undefined) waiting.set(line, [resolve])
      else before.push(resolve)
      goOn()
      return promise
    },
    async give(line: string, ms: number): Promise<void> {
      if (pauses) await sleep(ms)
      taken.splice(taken.indexOf(line), 1)
      goOn()
    },
  }

  function goOn(): void {
    while (taken.length < most) {
      // A second turn at once is for a line beside which no other waits.
      const lines = [...waiting.keys()]
      const line = lines.find((one) => !taken.includes(one)) ?? lines[0]
      const asking = line === undefined ? undefined : waiting.get(line)
      if (line === undefined || asking === undefined) return
      const first = asking.shift()
      waiting.delete(line)
      if (asking.length > 0) waiting.set(line, asking)
      taken.push(line)
      first?.()
    }
  }
}
