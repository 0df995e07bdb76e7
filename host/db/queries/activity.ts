import type { Db } from '../db.ts'

/** Counts of a time. `owner`: an organization; an empty text is the whole of Annex. `slots`: by `activity-counts.ts`. */
export type ActivityChunk = { owner: string; stepMs: number; startMs: number; slots: Buffer }

type Key = Omit<ActivityChunk, 'slots'>

/**
 * Of two hosts that add to one chunk, the second waits for the first.
 *
 * @returns null for a new one
 */
export async function lockChunk(transaction: Db, key: Key): Promise<Buffer | null> {
  await transaction('activity').insert(key).onConflict(['owner', 'stepMs', 'startMs']).ignore()
  const { slots } = await transaction('activity').where(key).forUpdate().first('slots')
  return slots
}

export async function updateChunk(transaction: Db, { slots, ...key }: ActivityChunk): Promise<void> {
  await transaction('activity').where(key).update({ slots })
}

/** The oldest first. */
export async function listChunks(
  db: Db,
  { owner, stepMs, fromMs }: { owner: string; stepMs: number; fromMs: number },
): Promise<{ startMs: number; slots: Buffer }[]> {
  const rows = await db('activity')
    .where({ owner, stepMs })
    .where('startMs', '>=', fromMs)
    .whereNotNull('slots')
    .orderBy('startMs')
    .select('startMs', 'slots')
  return rows.map((row) => ({ ...row, startMs: Number(row.startMs) }))
}

/** @param beforeMs chunks that began earlier are deleted */
export async function deleteChunks(db: Db, stepMs: number, beforeMs: number): Promise<void> {
  await db('activity').where({ stepMs }).where('startMs', '<', beforeMs).delete()
}
