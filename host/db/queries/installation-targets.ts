import type { Db } from '../db.ts'
import { inPage, type PageAt } from '../page.ts'
import {
  type Configuration,
  type Installation,
  type InstallationStatus,
  notHeld,
  openColumns,
  type SettingDetails,
  type Signer,
  type StoredLevel,
  type TargetKind,
  toInstallation,
  toRow,
} from './installations.ts'
import { levelsNamed } from './level-external-ids.ts'
import { type Reach, whereReached } from './reach.ts'

/** A site or space installation: the part of an installation that belongs to one site or space. */
export type InstallationTarget = Signer & {
  installationId: string
  kind: TargetKind
  targetId: string
  status: InstallationStatus
  /** Why its setup has failed. */
  statusReason: string | null
  configuration: Configuration
  settingDetails: SettingDetails
  /** As in `Installation`. */
  isUnreadable: boolean
  externalIds: string[]
  createdAt: number
  updatedAt: number
  /** As in `Installation`. */
  removingAt: number | null
}

type TargetKey = Pick<InstallationTarget, 'installationId' | 'kind' | 'targetId'>

const toKey = ({ installationId, kind, targetId }: TargetKey): TargetKey => ({
  installationId,
  kind,
  targetId,
})

/** @returns undefined when the target exists already */
export async function insertTarget(
  db: Db,
  given: TargetKey & { signingSecret: string },
): Promise<InstallationTarget | undefined> {
  const now = Date.now()
  const row = {
    ...given,
    status: 'pending',
    configuration: '{}',
    externalIds: '[]',
    createdAt: now,
    updatedAt: now,
  }
  const [inserted] = await db('installationTargets')
    .insert(row)
    .onConflict(['installationId', 'kind', 'targetId'])
    .ignore()
    .returning('*')
  return inserted && toTarget(db, inserted)
}

export async function findTarget(db: Db, key: TargetKey): Promise<InstallationTarget | undefined> {
  const row = await db('installationTargets').where(key).first()
  return row && toTarget(db, row)
}

/** Locks the target: other edits wait for the transaction. @returns undefined when it has ended */
export async function lockTarget(transaction: Db, key: TargetKey): Promise<InstallationTarget | undefined> {
  const row = await transaction('installationTargets').where(toKey(key)).forUpdate().first()
  return row && toTarget(transaction, row)
}

/** In the order of their sites or spaces, the oldest first. */
export async function listTargets(
  db: Db,
  where: { installationId: string; kind: TargetKind },
  at: PageAt,
): Promise<InstallationTarget[]> {
  const query = db('installationTargets').where(where).whereNull('removingAt')
  const rows: StoredLevel<InstallationTarget>[] = await inPage(query, 'targetId', at)
  return rows.map((row) => toTarget(db, row))
}

/** All site and space installations of an installation. */
export async function readTargets(db: Db, installationId: string): Promise<InstallationTarget[]> {
  return (await db('installationTargets').where({ installationId }).whereNull('removingAt')).map((row) =>
    toTarget(db, row),
  )
}

/** A script and an answer of the API have at most this many of an installation. */
const maxSpaces = 1_000

/** The oldest space first, at most 1,000. */
export async function listSpaceIds(db: Db, installationId: string): Promise<string[]> {
  const rows = await db('installationTargets')
    .where({ installationId, kind: 'space' })
    .whereNull('removingAt')
    .orderBy('targetId')
    .limit(maxSpaces)
    .select('targetId')
  return rows.map(({ targetId }) => targetId)
}

/** As `listSpaceIds`, for each of the installations. */
export async function listSpaceIdsOf(db: Db, installationIds: string[]): Promise<Map<string, string[]>> {
  const spaces = new Map<string, string[]>(installationIds.map((id) => [id, []]))
  if (installationIds.length === 0) return spaces
  const numbered = db('installationTargets')
    .where({ kind: 'space' })
    .whereIn('installationId', installationIds)
    .whereNull('removingAt')
    .select('installationId', 'targetId')
    .rowNumber('place', (over) => over.partitionBy('installationId').orderBy('targetId'))
  const rows: { installationId: string; targetId: string }[] = await db
    .from(numbered.as('numbered') as never)
    .where('place', '<=', maxSpaces)
    .select('installationId', 'targetId')
  for (const { installationId, targetId } of rows) spaces.get(installationId)?.push(targetId)
  // Here, as an ORDER BY of the statement would sort without an index.
  for (const ids of spaces.values()) ids.sort()
  return spaces
}

/** A site or space installation in the list of an integration. `after`: the last one of the page before. */
export type TargetPage = {
  integration: string
  kind: TargetKind
  organizationId?: string
  externalId?: string
  reach?: Reach
  after?: Pick<InstallationTarget, 'installationId' | 'targetId'>
  limit: number
}

/** Site or space installations of an integration, in all organizations or in one. */
export async function listTargetsOfIntegration(
  db: Db,
  { integration, kind, organizationId, externalId, reach, after, limit }: TargetPage,
): Promise<{ target: InstallationTarget; installation: Installation }[]> {
  const query = db('installations')
    .select('installationTargets.*')
    // SQLite keeps to the order of a cross join, and reads both tables in the order of the page.
    .crossJoin('installationTargets' as never)
    .where('installationTargets.installationId', db.ref('installations.id'))
    .where({ integration, kind })
    .whereNull('installations.removingAt')
    .whereNull('installationTargets.removingAt')
    .orderBy(['installations.id', 'targetId'])
    .limit(limit)
  if (organizationId !== undefined) query.where({ organizationId })
  if (reach !== undefined) whereReached(query, reach)
  if (externalId !== undefined) {
    const named = () => levelsNamed(db, { integration, kind, externalId })
    query.whereIn('installations.id', named().select('installationId'))
    query.whereIn(['installationId', 'targetId'], named().select('installationId', 'targetId'))
  }
  if (after !== undefined) {
    // The first condition is for the index.
    query.where('installations.id', '>=', after.installationId)
    query.whereRaw('(installations.id, target_id) > (?, ?)', [after.installationId, after.targetId])
  }
  const targets = (await query).map((row) => toTarget(db, row))
  if (targets.length === 0) return []
  const rows = await db('installations').whereIn(
    'id',
    targets.map(({ installationId }) => installationId),
  )
  const installations = new Map(rows.map((row) => [row.id, toInstallation(db, row)]))
  return targets.flatMap((target) => {
    const installation = installations.get(target.installationId)
    return installation === undefined ? [] : [{ target, installation }]
  })
}

/** The installations in a site or space, which may get its events. */
export async function listInstallationsOn(
  db: Db,
  kind: TargetKind,
  targetId: string,
): Promise<InstallationTarget[]> {
  const rows = await db('installationTargets')
    .where({ kind, targetId })
    .whereNull('removingAt')
    .orderBy('createdAt')
  return rows.map((row) => toTarget(db, row))
}

export async function updateTarget(
  db: Db,
  key: TargetKey,
  change: Partial<Pick<InstallationTarget, 'status' | 'configuration' | 'settingDetails' | 'externalIds'>>,
): Promise<void> {
  await db('installationTargets').where(key).update(toRow(db, change))
}

/** @returns false when another request has changed the secret since it was read */
export async function changeTargetSecrets(
  db: Db,
  { installationId, kind, targetId, signingSecret }: TargetKey & Pick<Signer, 'signingSecret'>,
  to: Signer,
): Promise<boolean> {
  const updatedAt = Date.now()
  const changed = await db('installationTargets')
    .where({ installationId, kind, targetId, signingSecret })
    .update({ ...to, updatedAt })
  return changed > 0
}

/** As `activateInstallation`. */
export async function activateTarget(db: Db, key: TargetKey): Promise<void> {
  await db('installationTargets')
    .where(toKey(key))
    .whereIn('status', notHeld)
    .update(toRow(db, { status: 'active', statusReason: null }))
}

/** Stores why the setup of a level has failed, or that it has not. */
export async function noteSetupFailure(
  db: Db,
  { installation, target }: { installation: Installation; target?: InstallationTarget },
  statusReason: string | null,
): Promise<void> {
  const rows =
    target === undefined
      ? db('installations').where({ id: installation.id })
      : db('installationTargets').where(toKey(target))
  await rows.whereIn('status', notHeld).update({ statusReason })
}

function toTarget(db: Db, row: StoredLevel<InstallationTarget>): InstallationTarget {
  return { ...row, ...openColumns(db, row) }
}
