import { systemOrigin } from '../access/actor.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { findLevel, listHoldingLevels, lockRow, updateLevel } from '../db/queries/levels.ts'
import { transact } from '../db/sql.ts'
import { auditLevel } from './audit-level.ts'
import { takeExpired } from './held-connections.ts'

/** Deletes the accounts that have waited too long for a yes, with their credentials. */
export async function expireHeld(
  db: Db,
  longReader: Db,
  { signal, now = nowOf(db) }: { signal?: AbortSignal; now?: number } = {},
): Promise<void> {
  for (const key of await listHoldingLevels(longReader)) {
    if (signal?.aborted) return
    const found = await findLevel(longReader, key)
    if (found === undefined || takeExpired(found.settingDetails, now) === undefined) continue
    await transact(db, async (transaction) => {
      const level = await lockRow(transaction, found)
      if (level === undefined) return
      let expired = takeExpired(level.settingDetails, now)
      while (expired !== undefined) {
        const { details, names, account } = expired
        await updateLevel(transaction, level, { settingDetails: details })
        const after = { connections: names, account }
        await auditLevel(transaction, systemOrigin, level, { action: 'connection.expire', after })
        expired = takeExpired(details, now)
      }
    })
  }
}
