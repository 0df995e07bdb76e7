import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'
import { movedTables } from '../../host/db/queries/moved/import-rows.ts'

/**
 * Of a claim, which no job of an export has; of a suspension, which a move ends; of what this machine has alone;
 * of the live feed, whose places are those of one Annex.
 */
const left: Record<string, string[]> = {
  spaces: ['revisionId'],
  installations: ['suspendedAt', 'suspendedDigest'],
  deliveries: ['refusedId'],
  jobs: ['claimedAt', 'hostId', 'leaseId', 'leaseUntil'],
}

it('every column moves, or is named here: what a migration adds must not be lost on the way', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-columns-'))
  const { db, close } = await openDatabase('', folder)
  try {
    for (const [table, columns] of Object.entries(movedTables)) {
      const there = Object.keys(await db(table).columnInfo())
      assert.deepEqual([...Object.keys(columns), ...(left[table] ?? [])].toSorted(), there.toSorted(), table)
    }
  } finally {
    await close()
    rmSync(folder, { recursive: true })
  }
})
