import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { forEachRow } from '../rows/each-row.ts'
import { toSnakeCase } from '../rows/naming.ts'

/**
 * One try at a delivery. Headers and `timing` are JSON text.
 *
 * `interrupted`: the host that made it ended before its end, so nobody knows whether the receiver has it.
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

const names = Object.keys(columns).map(toSnakeCase)

export async function insertAttempts(db: Db, attempts: readonly Omit<AttemptRow, 'id'>[]): Promise<void> {
  await forEachRow<AttemptRow>(db, {
    ...{ table: 'attempts', columns, key: ['id'] },
    rows: attempts.map((attempt) => ({ id: createId('att'), ...attempt })),
    sql: (from) =>
      `insert into attempts (${names.join()}) select ${names.map((name) => `given.${name}`).join()} ${from()}`,
  })
}

export async function listAttempts(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  return db('attempts').where({ deliveryId }).orderBy('number')
}
