import type { Db } from '../db/db.ts'
import { eachPage } from '../db/page.ts'
import type { Installation } from '../db/queries/installations.ts'
import {
  installationOf,
  keyOf,
  type Level,
  listPlacesOfIntegration,
  type PlaceLevel,
  textOfKey,
} from '../db/queries/levels.ts'
import { listInstallations } from '../db/queries/list-installations.ts'
import { listWithSettings, type Owner } from '../db/queries/problems.ts'
import { listOnceActive } from '../db/queries/status-changes.ts'
import type { VersionHead } from '../db/queries/versions.ts'
import type { ErrorDetail } from '../errors.ts'
import { createDeployedReader } from './find-deployed.ts'
import { whyPending } from './level-settings.ts'

/** A level that was active, and whose settings no longer fit the version that it runs. */
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
    for await (const page of eachLevelPage(db, { integration, ...owner })) {
      read += page.length
      const unfit = await Promise.all(page.map((level) => toUnfit(level, readDeployed)))
      found.push(...(await keepOnceActive(db, unfit.flat())))
      if (found.length >= most || read >= mostRead) return found.slice(0, most)
    }
  }
  return found
}

async function toUnfit(
  level: Level,
  readDeployed: ReturnType<typeof createDeployedReader>,
): Promise<UnfitLevel[]> {
  if (level.status !== 'active') return []
  const runs = await readDeployed(installationOf(level))
  const why = whyPending(runs?.manifest, level)
  return runs === undefined || why.length === 0 ? [] : [{ level, version: runs.version, why }]
}

/** Without those that wait for their first settings: no version has made them pending. */
async function keepOnceActive(db: Db, unfit: readonly UnfitLevel[]): Promise<UnfitLevel[]> {
  if (unfit.length === 0) return []
  const ids = unfit.map(({ level }) => installationOf(level).id)
  const onceActive = new Set((await listOnceActive(db, ids)).map(textOfKey))
  return unfit.filter(({ level }) => level.isUnreadable || onceActive.has(textOfKey(keyOf(level))))
}

async function* eachLevelPage(
  db: Db,
  where: { integration: string; organizationId?: string },
): AsyncGenerator<Level[]> {
  yield* eachPage(pageSize, (last?: Installation) =>
    listInstallations(db, where, { after: last?.id, limit: pageSize }),
  )
  for (const kind of ['site', 'space'] as const)
    yield* eachPage(pageSize, (after?: PlaceLevel) =>
      listPlacesOfIntegration(db, { ...where, kind, limit: pageSize, ...(after && { after }) }),
    )
}
