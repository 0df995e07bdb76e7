import type { Db } from '../db.ts'
import { byteLength, lockNames, rawRows } from '../sql.ts'

// Each space counts the bytes of its rows of pages, so that no write has to read their texts. A space that is deleted takes its
// count with it.

/** Counted for each row besides its texts. */
const bytesBeside = 100

const texts = ['path', 'title', 'description', 'markdown', 'document'] as const

export const bytesOf = (page: Readonly<Record<(typeof texts)[number], string | null>>): number =>
  texts.reduce((sum, name) => sum + Buffer.byteLength(page[name] ?? ''), bytesBeside)

/** An expression for the bytes of a row of pages. */
export const rowBytes = (db: Db): string =>
  [String(bytesBeside), ...texts.map((name) => `coalesce(${byteLength(db, name)}, 0)`)].join(' + ')

/** An expression for the bytes of the text of a row. */
export const textBytes = (db: Db): string =>
  `coalesce(${byteLength(db, 'markdown')}, 0) + coalesce(${byteLength(db, 'document')}, 0)`

export async function addContentBytes(transaction: Db, spaceId: string, bytes: number): Promise<void> {
  if (bytes !== 0) await transaction('spaces').where({ id: spaceId }).increment('contentBytes', bytes)
}

/** The bytes of all spaces of an organization. No other transaction adds some until this one ends. */
export async function lockContentBytes(transaction: Db, organizationId: string): Promise<number> {
  await lockNames(transaction, JSON.stringify([`content of ${organizationId}`]))
  const row = await transaction('spaces').where({ organizationId }).sum({ bytes: 'contentBytes' }).first()
  return Number(row?.bytes ?? 0)
}

/** The bytes of the rows that a revision ends. */
export async function endedBytes(
  db: Db,
  { spaceId, number }: { spaceId: string; number: number },
): Promise<number> {
  const sum = `select sum(${rowBytes(db)}) as bytes from pages where space_id = ? and to_revision = ?`
  const [row] = await rawRows<{ bytes: number | null }>(db, sum, [spaceId, number])
  return Number(row?.bytes ?? 0)
}
