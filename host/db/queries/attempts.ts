import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { forEachInserted } from '../json-rows.ts'

/**
 * One try at a delivery. Headers and `timing` are JSON text.
 *
 * `interrupted`: the host ended during the attempt, so it is unknown whether the receiver has the delivery.
 */
export type AttemptRow = {
  id: string
  deliveryId: string
  number: number
  startedAt: number
  durationMs: number
  outcome: 'delivered' | 'rejected' | 'error' | 'interrupted'
  status: number | null
  requestHeaders: string
  responseHeaders: string | null
  responseBody: string | null
  errorCode: string | null
  errorMessage: string | null
  timing: string | null
}

const columns = {
  id: 'text',
  deliveryId: 'text',
  number: 'bigint',
  startedAt: 'bigint',
  durationMs: 'bigint',
  outcome: 'text',
  status: 'bigint',
  requestHeaders: 'text',
  responseHeaders: 'text',
  responseBody: 'text',
  errorCode: 'text',
  errorMessage: 'text',
  timing: 'text',
} as const

const insertRows = forEachInserted<AttemptRow>({ table: 'attempts', columns })

export async function insertAttempts(db: Db, attempts: readonly Omit<AttemptRow, 'id'>[]): Promise<void> {
  await insertRows(
    db,
    attempts.map((attempt) => ({ id: createId('att'), ...attempt })),
  )
}

export async function listAttempts(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  return db('attempts').where({ deliveryId }).orderBy('number')
}
