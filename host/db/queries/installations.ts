import type { InstallationStatus } from '../../../schemas/generated/installation-status.ts'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { jsonListHas } from '../sql.ts'

/** The spec's section 3 names `active` alone. docs/plugins.md describes the other statuses. */
export type { InstallationStatus }

const statuses: readonly InstallationStatus[] = ['pending', 'active', 'paused', 'suspended']

export type Configuration = Record<string, unknown>

/** What Annex knows of settings, by their names. Scripts do not get it. */
export type SettingDetails = Record<
  string,
  {
    /** The text that stands for the value in a list of choices. */
    label?: { value: string; label: string }
    connection?: {
      since: number
      account?: string
      error?: string
      /** A script renews its tokens until then. */
      claimedUntil?: number
    }
  }
>

/** The secrets that sign for a level, encrypted. */
export type Signer = {
  signingSecret: string
  /** The secret before a rotation. It signs too until `previousSecretUntil`. */
  previousSigningSecret: string | null
  previousSecretUntil: number | null
  /** The secret that signs first, for receivers that read only one signature. */
  firstSecret: 'new' | 'old' | null
}

export type Selection = 'all' | 'selected'

export type Installation = Signer & {
  id: string
  integration: string
  organizationId: string
  status: InstallationStatus
  statusReason: string | null
  configuration: Configuration
  settingDetails: SettingDetails
  externalIds: string[]
  /** `all`: a new space or site gets the integration at once. */
  spaceSelection: Selection
  siteSelection: Selection
  createdAt: number
  updatedAt: number
  /** Start of a suspension; the suspended version; the status before it. */
  suspendedAt: number | null
  suspendedDigest: string | null
  suspendedFrom: InstallationStatus | null
  /** The version that it goes on with, until its organization agrees to a newer one. Null: the deployed version. */
  heldVersionId: string | null
  /** An uninstall has begun. Only the script sees the installation now, for its last event. */
  removingAt: number | null
}

/** @returns undefined when the organization has the integration already */
export async function insertInstallation(
  db: Db,
  given: { integration: string; organizationId: string; signingSecret: string },
): Promise<Installation | undefined> {
  const now = Date.now()
  const row = {
    id: createId('inst'),
    ...given,
    status: 'pending',
    statusReason: null,
    configuration: '{}',
    externalIds: '[]',
    createdAt: now,
    updatedAt: now,
  }
  const [inserted] = await db('installations')
    .insert(row)
    .onConflict(db.raw('(integration, organization_id) where removing_at is null') as never)
    .ignore()
    .returning('*')
  return inserted && toInstallation(inserted)
}

/** Also an installation that is being uninstalled. */
export async function findInstallation(db: Db, id: string): Promise<Installation | undefined> {
  const row = await db('installations').where({ id }).whereNull('removedAt').first()
  return row && toInstallation(row)
}

/** Locks the installation: other edits wait for the transaction. @returns the current row; `installation` when it was deleted */
export async function lockInstallation(transaction: Db, installation: Installation): Promise<Installation> {
  const row = await transaction('installations').where({ id: installation.id }).forUpdate().first()
  return row === undefined ? installation : toInstallation(row)
}

export async function listInstallations(
  db: Db,
  where: { integration?: string; organizationId?: string },
): Promise<Installation[]> {
  const rows = await db('installations').where(where).whereNull('removingAt').orderBy('createdAt')
  return rows.map(toInstallation)
}

/** Counts installations by status. A status without installations counts 0. */
export async function countInstallations(db: Db): Promise<{ status: InstallationStatus; count: number }[]> {
  const rows = await db<{ status: InstallationStatus }>('installations')
    .select('status')
    .whereNull('removingAt')
    .count({ count: '*' })
    .groupBy('status')
  const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]))
  return statuses.map((status) => ({ status, count: counts.get(status) ?? 0 }))
}

export async function updateInstallation(
  db: Db,
  id: string,
  change: Partial<
    Pick<Installation, 'status' | 'statusReason' | 'configuration' | 'settingDetails' | 'externalIds'>
  >,
): Promise<void> {
  await db('installations').where({ id }).update(toRow(change))
}

const selectionOf = (kind: TargetKind) => `${kind}Selection` as const

export async function updateSelection(
  db: Db,
  id: string,
  kind: TargetKind,
  selection: Selection,
): Promise<void> {
  await db('installations')
    .where({ id })
    .update({ [selectionOf(kind)]: selection, updatedAt: Date.now() })
}

/** The installations of an organization that select all spaces, or all sites. They are locked. */
export async function listSelectingAll(
  transaction: Db,
  kind: TargetKind,
  organizationId: string,
): Promise<Installation[]> {
  const rows = await transaction('installations')
    .where({ organizationId, [selectionOf(kind)]: 'all' })
    .whereNull('removingAt')
    .orderBy('id')
    .forUpdate()
  return rows.map(toInstallation)
}

/** @returns false when another request has changed the secret since it was read */
export async function changeSecrets(
  db: Db,
  { id, signingSecret }: Pick<Installation, 'id' | 'signingSecret'>,
  to: Signer,
): Promise<boolean> {
  const updatedAt = Date.now()
  const changed = await db('installations')
    .where({ id, signingSecret })
    .update({ ...to, updatedAt })
  return changed > 0
}

/**
 * Activates an installation that is pending, and drops the reason of a failed setup. An installation that was suspended
 * meanwhile becomes active at its resume.
 */
export async function activateInstallation(db: Db, id: string): Promise<void> {
  const updatedAt = Date.now()
  await db('installations')
    .where({ id })
    .whereIn('status', notHeld)
    .update({ status: 'active', statusReason: null, updatedAt })
  await db('installations')
    .where({ id, status: 'suspended', suspendedFrom: 'pending' })
    .update({ suspendedFrom: 'active', updatedAt })
}

const notHeld: readonly string[] = ['pending', 'active']

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

/** The columns of a change to an installation, or to one of its targets. */
export function toRow(change: {
  status?: string
  statusReason?: string | null
  configuration?: Configuration
  settingDetails?: SettingDetails
  externalIds?: string[]
}): Record<string, unknown> {
  const { configuration, settingDetails, externalIds, ...rest } = change
  return {
    ...rest,
    ...(configuration === undefined ? {} : { configuration: JSON.stringify(configuration) }),
    ...(settingDetails === undefined ? {} : { settingDetails: JSON.stringify(settingDetails) }),
    ...(externalIds === undefined ? {} : { externalIds: JSON.stringify(externalIds) }),
    updatedAt: Date.now(),
  }
}

type Row = Omit<Installation, 'configuration' | 'settingDetails' | 'externalIds'> & {
  configuration: string
  settingDetails: string
  externalIds: string
}

function toInstallation(row: Row): Installation {
  return { ...row, ...parseColumns(row) }
}

const parseColumns = (row: { configuration: string; settingDetails: string; externalIds: string }) => ({
  configuration: JSON.parse(row.configuration) as Configuration,
  settingDetails: JSON.parse(row.settingDetails) as SettingDetails,
  externalIds: JSON.parse(row.externalIds) as string[],
})

export type TargetKind = 'site' | 'space'

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

type TargetRow = Omit<InstallationTarget, 'configuration' | 'settingDetails' | 'externalIds'> & {
  configuration: string
  settingDetails: string
  externalIds: string
}

function toTarget(row: TargetRow): InstallationTarget {
  return { ...row, ...parseColumns(row) }
}
