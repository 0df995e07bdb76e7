import { randomUUID } from 'node:crypto'
import type { Db } from '../db.ts'

/** Stores the sealed text of the first host. Other hosts open it to check their keys. @returns the stored text */
export async function ensureKeyCheck(db: Db, sealed: string): Promise<string> {
  const purpose = 'all hosts have the same key'
  await db('key_checks').insert({ purpose, sealed }).onConflict('purpose').ignore()
  const row = await db('key_checks').where({ purpose }).first()
  return row.sealed
}

/** Tests whether the database takes writes. The row is new each time, as SQLite writes only changed pages. */
export async function writeProbe(db: Db): Promise<void> {
  const purpose = randomUUID()
  await db('key_checks').insert({ purpose, sealed: '' })
  await db('key_checks').where({ purpose }).delete()
}
