import type { Db } from '../db.ts'
import { jsonRows, toJson } from '../json-rows.ts'

/** How often the scripts of an installation have used a scope on a UTC day (Unix ms). */
export type DayUses = { installationId: string; scope: string; day: number; uses: number }

const columns = { installationId: 'text', scope: 'text', day: 'bigint', uses: 'bigint' } as const

/** Adds to the stored counts. Counts of an uninstalled installation are dropped. */
export async function addUses(db: Db, counts: readonly DayUses[]): Promise<void> {
  await db.raw(
    `insert into permission_uses (installation_id, scope, day, uses)
     select added.installation_id, added.scope, added.day, added.uses
     from ${jsonRows(db, 'added', columns)} join installations on installations.id = added.installation_id
     where installations.removed_at is null
     on conflict (installation_id, scope, day) do update set uses = permission_uses.uses + excluded.uses`,
    [toJson(counts, columns)],
  )
}

/** The uses of an installation from a day on, by scope, with the last day of each. */
export async function sumUses(
  db: Db,
  installationId: string,
  fromDay: number,
): Promise<{ scope: string; uses: number; lastDay: number }[]> {
  const rows: { scope: string; uses: number | string; lastDay: number | string }[] = await db(
    'permissionUses',
  )
    .where({ installationId })
    .where('day', '>=', fromDay)
    .groupBy('scope')
    .select('scope', db.raw('sum(uses) as uses'), db.raw('max(day) as last_day'))
  return rows.map(({ scope, uses, lastDay }) => ({ scope, uses: Number(uses), lastDay: Number(lastDay) }))
}

export async function deleteUses(db: Db, beforeDay: number): Promise<void> {
  await db('permissionUses').where('day', '<', beforeDay).delete()
}
