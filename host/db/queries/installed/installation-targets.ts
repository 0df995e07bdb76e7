import type { Db } from '../../db.ts'
import { type Configuration, type InstallationStatus, type Signer, toRow } from './installations.ts'

export type TargetKind = 'site' | 'space'

/** A site or space installation: the part of an installation that belongs to one site or space. */
export type InstallationTarget = Signer & {
  installationId: string
  kind: TargetKind
  targetId: string
  status: InstallationStatus
  configuration: Configuration
  externalIds: string[]
  createdAt: number
  updatedAt: number
}

type TargetKey = Pick<InstallationTarget, 'installationId' | 'kind' | 'targetId'>

/** @returns undefined when it is there already */
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

/** The target as it is now, or as it was before it was taken out. Other edits wait for the transaction. */
export async function lockTarget(transaction: Db, target: InstallationTarget): Promise<InstallationTarget> {
  const { installationId, kind, targetId } = target
  const row = await transaction('installationTargets')
    .where({ installationId, kind, targetId })
    .forUpdate()
    .first()
  return row === undefined ? target : toTarget(row)
}

export async function listTargets(
  db: Db,
  where: { installationId: string; kind?: TargetKind },
): Promise<InstallationTarget[]> {
  const rows = await db('installationTargets').where(where).orderBy('createdAt')
  return rows.map(toTarget)
}

/** Every installation of a site or a space: whom an event there concerns. */
export async function listInstallationsOn(
  db: Db,
  kind: TargetKind,
  targetId: string,
): Promise<InstallationTarget[]> {
  const rows = await db('installationTargets').where({ kind, targetId }).orderBy('createdAt')
  return rows.map(toTarget)
}

export async function updateTarget(
  db: Db,
  key: TargetKey,
  change: Partial<Pick<InstallationTarget, 'status' | 'configuration' | 'externalIds'>>,
): Promise<void> {
  await db('installationTargets').where(key).update(toRow(change))
}

/** @returns false when its secret is another one by now than the one that was read */
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

export async function activateTarget(db: Db, key: TargetKey): Promise<void> {
  await db('installationTargets')
    .where({ ...key, status: 'pending' })
    .update(toRow({ status: 'active' }))
}

type Row = Omit<InstallationTarget, 'configuration' | 'externalIds'> & {
  configuration: string
  externalIds: string
}

function toTarget(row: Row): InstallationTarget {
  return { ...row, configuration: JSON.parse(row.configuration), externalIds: JSON.parse(row.externalIds) }
}
