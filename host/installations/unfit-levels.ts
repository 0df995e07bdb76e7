import type { Db } from '../db/db.ts'
import { installationOf, type Level, listPlacesOfIntegration } from '../db/queries/levels.ts'
import { eachInstallation } from '../db/queries/list-installations.ts'
import { listWithSettings, type Owner } from '../db/queries/problems.ts'
import type { VersionHead } from '../db/queries/versions.ts'
import type { ErrorDetail } from '../errors.ts'
import { createDeployedReader } from './find-deployed.ts'
import { whyPending } from './level-settings.ts'

/** A level that was set up, and whose settings no longer fit the version that it runs. */
export type UnfitLevel = { level: Level; version: VersionHead; why: ErrorDetail[] }

/** As many levels are read: their settings are encrypted, so the database cannot select them. */
const mostRead = 10_000
const pageSize = 200

/** @param most ends the search */
export async function findUnfitLevels(db: Db, owner: Owner, most: number): Promise<UnfitLevel[]> {
  const found: UnfitLevel[] = []
  const readDeployed = createDeployedReader(db)
  let read = 0
  for (const integration of await listWithSettings(db, owner)) {
    for await (const level of eachLevel(db, { integration, ...owner })) {
      read += 1
      if (level.status === 'active') {
        const runs = await readDeployed(installationOf(level))
        const why = whyPending(runs?.manifest, level)
        if (runs !== undefined && why.length > 0) found.push({ level, version: runs.version, why })
      }
      if (found.length >= most || read >= mostRead) return found
    }
  }
  return found
}

async function* eachLevel(
  db: Db,
  where: { integration: string; organizationId?: string },
): AsyncGenerator<Level> {
  yield* eachInstallation(db, where)
  for (const kind of ['site', 'space'] as const) {
    for (let more = true, after = {}; more; ) {
      const page = await listPlacesOfIntegration(db, { ...where, kind, ...after, limit: pageSize })
      yield* page
      const last = page.at(-1)
      more = page.length === pageSize && last !== undefined
      after = { after: last }
    }
  }
}
