import type { Db } from '../db.ts'

/** A record that may have ids of other platforms. */
export type NamedKind = 'organization' | 'site' | 'space'

/** Slugs have this form, too. */
export const isExternalId = (text: string): boolean => /^[!-~]{1,200}$/.test(text)

/** The organization of a site or space. Organizations have no owner: their external ids are unique on this Annex. */
const ownerOf = (organizationId: string | undefined): string => organizationId ?? ''

/** The ids of the records with that external id, as a subquery. */
export const recordsNamed = (db: Db, kind: NamedKind, externalId: string) =>
  db('externalIds').where({ kind, externalId }).select('recordId')

/** Adds their external ids to records, in order. */
export async function withExternalIds<Row extends { id: string }>(
  db: Db,
  records: readonly Row[],
): Promise<(Row & { externalIds: string[] })[]> {
  const rows: { recordId: string; externalId: string }[] = await db('externalIds')
    .whereIn(
      'recordId',
      records.map(({ id }) => id),
    )
    .orderBy(['recordId', 'externalId'])
    .select('recordId', 'externalId')
  const byRecord = Map.groupBy(rows, ({ recordId }) => recordId)
  return records.map((record) => ({
    ...record,
    externalIds: (byRecord.get(record.id) ?? []).map(({ externalId }) => externalId),
  }))
}

export async function withExternalIdsOf<Row extends { id: string }>(
  db: Db,
  record: Row,
): Promise<Row & { externalIds: string[] }> {
  const [found = { ...record, externalIds: [] }] = await withExternalIds(db, [record])
  return found
}

/**
 * Replaces the external ids of a record, in the caller's transaction.
 *
 * @returns an external id that another record of the organization has: the caller rolls back
 */
export async function replaceExternalIds(
  transaction: Db,
  given: { kind: NamedKind; organizationId?: string; recordId: string; externalIds: readonly string[] },
): Promise<string | undefined> {
  const { kind, recordId, externalIds } = given
  const owner = ownerOf(given.organizationId)
  await deleteExternalIds(transaction, [recordId])
  // Sorted: two transactions that wait for each other's rows would be a deadlock.
  for (const externalId of [...new Set(externalIds)].toSorted()) {
    const [inserted] = await transaction('externalIds')
      .insert({ kind, owner, externalId, recordId })
      .onConflict(['kind', 'externalId', 'owner'])
      .ignore()
      .returning('recordId')
    if (inserted === undefined) return externalId
  }
  return undefined
}

export async function deleteExternalIds(transaction: Db, recordIds: readonly string[]): Promise<void> {
  await transaction('externalIds').whereIn('recordId', recordIds).delete()
}
