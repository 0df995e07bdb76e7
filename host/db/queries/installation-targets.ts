import type { Db } from '../db.ts'
import { jsonListHas } from '../sql.ts'
import {
  type Configuration,
  type Installation,
  type InstallationStatus,
  notHeld,
  parseColumns,
  type SettingDetails,
  type Signer,
  type TargetKind,
  toInstallation,
  toRow,
} from './installations.ts'

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
  return inserted && toTarget(inserted)
}

export async function findTarget(db: Db, key: TargetKey): Promise<InstallationTarget | undefined> {
  const row = await db('installationTargets').where(key).first()
  return row && toTarget(row)
}

/** Locks the target: other edits wait for the transaction. @returns the current row; `target` when it was deleted */
export async function lockTarget(transaction: Db, target: InstallationTarget): Promise<InstallationTarget> {
  const row = await transaction('installationTargets').where(toKey(target)).forUpdate().first()
  return row === undefined ? target : toTarget(row)
}

export async function listTargets(
  db: Db,
  where: { installationId: string; kind?: TargetKind },
): Promise<InstallationTarget[]> {
  const rows = await db('installationTargets').where(where).whereNull('removingAt').orderBy('createdAt')
  return rows.map(toTarget)
}

/** The oldest first. A script has at most 1,000 of them in its environment. */
export async function listSpaceIds(db: Db, installationId: string): Promise<string[]> {
  const rows = await db('installationTargets')
    .where({ installationId, kind: 'space' })
    .whereNull('removingAt')
    .orderBy(['createdAt', 'targetId'])
    .limit(1_000)
    .select('targetId')
  return rows.map(({ targetId }) => targetId)
}

/** A site or space installation in the list of an integration. `after`: the last one of the page before. */
export type TargetPage = {
  integration: string
  kind: TargetKind
  organizationId?: string
  externalId?: string
  after?: Pick<InstallationTarget, 'installationId' | 'targetId'>
  limit: number
}

/** Site or space installations of an integration, in all organizations or in one. */
export async function listTargetsOfIntegration(
  db: Db,
  { integration, kind, organizationId, externalId, after, limit }: TargetPage,
): Promise<{ target: InstallationTarget; installation: Installation }[]> {
  const own = db('installations').where({ integration }).whereNull('removingAt').select('id')
  if (organizationId !== undefined) own.where({ organizationId })
  const query = db('installationTargets')
    .where({ kind })
    .whereNull('removingAt')
    .whereIn('installationId', own)
    .orderBy(['installationId', 'targetId'])
    .limit(limit)
  if (externalId !== undefined) query.whereRaw(jsonListHas(db, 'external_ids'), [externalId])
  if (after !== undefined) {
    query.whereRaw('(installation_id, target_id) > (?, ?)', [after.installationId, after.targetId])
  }
  const targets = (await query).map(toTarget)
  const rows = await db('installations').whereIn(
    'id',
    targets.map(({ installationId }) => installationId),
  )
  const installations = new Map(rows.map((row) => [row.id, toInstallation(row)]))
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
  return rows.map(toTarget)
}

export async function updateTarget(
  db: Db,
  key: TargetKey,
  change: Partial<Pick<InstallationTarget, 'status' | 'configuration' | 'settingDetails' | 'externalIds'>>,
): Promise<void> {
  await db('installationTargets').where(key).update(toRow(change))
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
    .update(toRow({ status: 'active', statusReason: null }))
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

type TargetRow = Omit<InstallationTarget, 'configuration' | 'settingDetails' | 'externalIds'> & {
  configuration: string
  settingDetails: string
  externalIds: string
}

function toTarget(row: TargetRow): InstallationTarget {
  return { ...row, ...parseColumns(row) }
}
