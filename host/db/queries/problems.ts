import type { Db } from '../db.ts'
import { openDetails, type SettingDetails } from './installations.ts'

/** Limits a search to an organization. An operator sees all. */
export type Owner = { organizationId?: string }

type Found = { installationId: string; integration: string; organizationId: string; since: number }

/** As many of each kind: a list of problems is for people. */
const most = 100

const installations = (db: Db, owner: Owner) =>
  db('installations').where(owner).whereNull('removingAt').orderBy('createdAt').limit(most)

export async function listSuspended(db: Db, owner: Owner): Promise<(Found & { reason: string })[]> {
  return installations(db, owner)
    .where({ hold: 'suspended' })
    .select(
      'id as installationId',
      'integration',
      'organizationId',
      'suspendedAt as since',
      'holdReason as reason',
    )
}

/** Versions that run and whose manifest names secrets: older ones while newer ones wait, and then the deployed ones. */
export async function listWithSecrets(
  db: Db,
  owner: Owner,
): Promise<{ name: string; organizationId: string; manifest: string }[]> {
  const held: { id: string }[] = await db('installations')
    .where('heldVersionId', '>', '')
    .distinct('heldVersionId as id')
  const runs = db('versions').join('integrations', 'integrations.name', 'versions.integration')
  const select = (versions: typeof runs) =>
    versions
      .where(owner)
      .whereRaw(`manifest like '%"secrets":%'`)
      .select('name', 'organizationId', 'manifest')
  const older =
    held.length === 0
      ? []
      : await select(
          runs.whereIn(
            'versions.id',
            held.map(({ id }) => id),
          ),
        )
  const deployed = db('integrations').join('versions', 'versions.id', 'integrations.versionId')
  return [...older, ...(await select(deployed))]
}

/** Integrations whose deployed version declares settings, of an organization: those that it has installed. */
export async function listWithSettings(db: Db, { organizationId }: Owner): Promise<string[]> {
  const query = db('integrations')
    .join('versions', 'versions.id', 'integrations.versionId')
    .whereRaw(`manifest like '%"configurations":%'`)
  if (organizationId !== undefined) {
    const installed = db('installations')
      .where({ organizationId })
      .whereNull('removingAt')
      .select('integration')
    query.whereIn('name', installed)
  }
  return query.pluck('name')
}

/** Integrations that are suspended outside of installations. */
export async function listSuspendedIntegrations(
  db: Db,
  owner: Owner,
): Promise<{ name: string; organizationId: string; since: number; reason: string }[]> {
  return db('integrations')
    .where(owner)
    .whereNotNull('suspendedAt')
    .limit(most)
    .select('name', 'organizationId', 'suspendedAt as since', 'suspendedReason as reason')
}

/** Installations that go on with an older version, since the deployed one was stored. */
export async function listHeld(
  db: Db,
  owner: Owner,
): Promise<(Found & { version: number; missedCalls: number })[]> {
  const query = db('installations')
    .join('integrations', 'integrations.name', 'installations.integration')
    .join('versions', 'versions.id', 'integrations.versionId')
    .whereNull('removingAt')
    // Not null, in a form that uses the index.
    .where('heldVersionId', '>', '')
    .limit(most)
    .select('installations.id as installationId', 'installations.integration', 'missedCalls')
    .select('installations.organizationId', 'versions.number as version', 'versions.createdAt as since')
  return owner.organizationId === undefined
    ? query
    : query.where('installations.organizationId', owner.organizationId)
}

export async function listDisabledReceivers(
  db: Db,
  owner: Owner,
): Promise<(Found & { id: string; url: string; reason: string })[]> {
  const query = db('receivers')
    .join('installations', 'installations.id', 'receivers.installationId')
    .where('receivers.state', 'disabled')
    .limit(most)
    .select('receivers.id', 'url', 'reason', 'installationId', 'integration', 'organizationId')
    .select('receivers.updatedAt as since')
  return owner.organizationId === undefined ? query : query.where(owner)
}

/** Failed events and tasks of each installation. */
export async function countFailedWork(db: Db, owner: Owner): Promise<(Found & { count: number })[]> {
  const query = db('jobs')
    .join('installations', 'installations.id', 'jobs.lane')
    .whereRaw(`jobs.state = 'failed' and kind in ('event', 'task')`)
    .whereNull('removingAt')
    .groupBy('jobs.lane', 'integration', 'organizationId')
    .limit(most)
    .select('jobs.lane as installationId', 'integration', 'organizationId')
    .min({ since: 'finishedAt' })
    .count({ count: '*' })
  if (owner.organizationId !== undefined) query.where(owner)
  const rows = (await query) as (Found & { count: number | string })[]
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

/** Failed tasks of integrations outside of their installations. */
export async function countFailedTasks(
  db: Db,
  owner: Owner,
): Promise<{ name: string; organizationId: string; since: number; count: number }[]> {
  const rows = await db('jobs')
    .join('integrations', 'integrations.name', 'jobs.lane')
    .whereRaw(`jobs.state = 'failed' and kind in ('event', 'task')`)
    .where(owner)
    .groupBy('name', 'organizationId')
    .limit(most)
    .select('name', 'organizationId')
    .min({ since: 'finishedAt' })
    .count({ count: '*' })
  return (rows as { name: string; organizationId: string; since: number; count: number | string }[]).map(
    (row) => ({ ...row, since: Number(row.since), count: Number(row.count) }),
  )
}

/** The organization of a lane: of the installation, or of the integration that has this name. */
export async function findLaneOwner(db: Db, lane: string): Promise<string | undefined> {
  const installation = await db('installations').where({ id: lane }).first('organizationId')
  const found = installation ?? (await db('integrations').where({ name: lane }).first('organizationId'))
  return found?.organizationId
}

/** As many connections are looked at: those that end later are not broken yet. */
const mostConnections = 10_000

/** Levels with a connection that has an error or an end. A level of another key has no details. */
export async function listEndingConnections(
  db: Db,
  owner: Owner,
): Promise<(Found & { placeId: string; details: SettingDetails })[]> {
  const query = db('levels')
    .join('installations', 'installations.id', 'levels.installationId')
    .whereRaw(`(setting_details like '%"error":%' or setting_details like '%"endsAt":%')`)
    .whereNull('levels.removingAt')
    .whereNull('installations.removingAt')
    .orderBy('levels.createdAt')
    .limit(mostConnections)
    .select('installationId', 'integration', 'organizationId', 'placeId')
    .select('levels.updatedAt as since', 'settingDetails as details')
  const rows = await (owner.organizationId === undefined ? query : query.where(owner))
  return rows.map((row) => ({ ...row, details: openDetails(db, row.details) ?? {} }))
}
