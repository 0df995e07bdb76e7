import { randomUUID } from 'node:crypto'
import type { Db } from '../db.ts'

/** Keeps what the first host has sealed, for all others to open. @returns what is kept */
export async function ensureKeyCheck(db: Db, sealed: string): Promise<string> {
  const purpose = 'all hosts have the same key'
  await db('key_checks').insert({ purpose, sealed }).onConflict('purpose').ignore()
  const row = await db('key_checks').where({ purpose }).first()
  return row.sealed
}

/** A secret of before there were key checks. */
export async function findSealedSecret(db: Db): Promise<string | undefined> {
  const row = await db('integrations').orderBy('createdAt').first('signingSecret')
  return row?.signingSecret
}

/** Writes a row and removes it again: it fails where the database takes no writes. SQLite writes no page that stays the same. */
export async function writeProbe(db: Db): Promise<void> {
  const purpose = randomUUID()
  await db('key_checks').insert({ purpose, sealed: '' })
  await db('key_checks').where({ purpose }).delete()
}
