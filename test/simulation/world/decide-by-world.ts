import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { countedTurn, nextTurn } from './event-loop.ts'
import type { World } from './world.ts'

/**
 * Gives this process the world's clock, ids that count, and turns of the event loop that are counted: what is stored is then the same for the same seed.
 *
 * @returns puts everything back
 */
export function decideByWorld(world: World): () => void {
  const before = { now: Date.now, randomUUID: crypto.randomUUID, randomUUIDv7: crypto.randomUUIDv7 }
  let count = 0
  const nextId = () => String(++count).padStart(6, '0') as never
  Date.now = world.wall
  Object.assign(crypto, { randomUUID: nextId, randomUUIDv7: nextId })
  Object.assign(timers, { setImmediate: countedTurn })
  syncBuiltinESMExports()
  return () => {
    Date.now = before.now
    Object.assign(crypto, { randomUUID: before.randomUUID, randomUUIDv7: before.randomUUIDv7 })
    Object.assign(timers, { setImmediate: nextTurn })
    syncBuiltinESMExports()
  }
}
