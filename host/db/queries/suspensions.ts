import type { Db } from '../db.ts'

/** The reason of a suspension, and the digest of the version that caused it. */
export type Suspension = { reason: string; digest: string }

/** @returns false when the installation was already paused or suspended */
export async function suspendInstallation(
  db: Db,
  id: string,
  { reason, digest }: Suspension,
): Promise<boolean> {
  const changed = await db('installations')
    .where({ id })
    .whereIn('status', ['active', 'pending'])
    .update({
      status: 'suspended',
      statusReason: reason,
      suspendedFrom: db.ref('status'),
      suspendedDigest: digest,
      suspendedAt: Date.now(),
      updatedAt: Date.now(),
    })
  return changed === 1
}

/** Suspends the endpoint and tasks of an integration outside of installations. */
export async function suspendIntegration(
  db: Db,
  name: string,
  { reason, digest }: Suspension,
): Promise<boolean> {
  const changed = await db('integrations')
    .where({ name })
    .whereNull('suspendedAt')
    .update({ suspendedAt: Date.now(), suspendedReason: reason, suspendedDigest: digest })
  return changed === 1
}

/**
 * Resumes an installation that is paused or suspended.
 *
 * @returns the lanes with waiting jobs. The caller releases them after the commit (`releaseWaiting`).
 */
export async function resumeInstallation(transaction: Db, id: string): Promise<string[]> {
  return resumeInstallations(transaction, [id])
}

/** @returns as `resumeInstallation` */
export async function resumeIntegration(transaction: Db, name: string): Promise<string[]> {
  await transaction('integrations').where({ name }).update(unsuspended)
  return [name]
}

/**
 * Resumes after a deployment: suspensions of other versions end. An installation that goes on with its version stays
 * suspended.
 *
 * @returns as `resumeInstallation`
 */
export async function liftSuspensions(
  transaction: Db,
  integration: string,
  digest: string,
): Promise<string[]> {
  const isOther = { integration, status: 'suspended' }
  const ids = await transaction('installations')
    .where(isOther)
    .whereNull('heldVersionId')
    .whereNot({ suspendedDigest: digest })
    .pluck('id')
  const lanes = await resumeInstallations(transaction, ids)
  const lifted = await transaction('integrations')
    .where({ name: integration })
    .whereNot({ suspendedDigest: digest })
    .update(unsuspended)
  return lifted > 0 ? [...lanes, integration] : lanes
}

/**
 * True when jobs of the level have to wait. The lock makes a concurrent resume come before this read or wait for the end of
 * the transaction. So no job is set waiting after the resume that would release it.
 */
export async function isHeld(
  transaction: Db,
  level: { integration: string; installationId?: string },
): Promise<boolean> {
  const { integration, installationId } = level
  if (installationId === undefined) {
    const row = await transaction('integrations').where({ name: integration }).forShare().first('suspendedAt')
    return row != null && row.suspendedAt !== null
  }
  const row = await transaction('installations').where({ id: installationId }).forShare().first('status')
  return heldStatuses.includes(row?.status)
}

/** Statuses in which work for an installation waits for its resume. */
const heldStatuses: readonly string[] = ['paused', 'suspended']

/**
 * Reads which installations take events. A resume of a paused or suspended installation waits for the transaction, and
 * finds the jobs that it stores.
 *
 * @returns whether events wait for a resume, by the installation's id. Installations that were suspended while pending are left
 *   out.
 */
export async function lockTaking(transaction: Db, ids: readonly string[]): Promise<Map<string, boolean>> {
  const read = (among: readonly string[]) =>
    transaction('installations').whereIn('id', among).select('id', 'status', 'suspendedFrom')
  const rows: Held[] = await read([...new Set(ids)])
  const held = rows.filter(({ status }) => heldStatuses.includes(status)).map(({ id }) => id)
  // Active installations are not locked: each lock would be a write, for every publisher.
  const again: Held[] = held.length === 0 ? [] : await read(held).forShare()
  const now = new Map([...rows, ...again].map((row) => [row.id, row]))
  return new Map(
    [...now.values()].flatMap(({ id, status, suspendedFrom }): [string, boolean][] => {
      const waits = heldStatuses.includes(status)
      return !waits || suspendedFrom !== 'pending' ? [[id, waits]] : []
    }),
  )
}

type Held = { id: string; status: string; suspendedFrom: string | null }

const unsuspended = { suspendedAt: null, suspendedReason: null, suspendedDigest: null }

async function resumeInstallations(transaction: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  await transaction('installations')
    .whereIn('id', ids)
    .whereIn('status', [...heldStatuses])
    .update({
      status: transaction.raw(`coalesce(suspended_from, 'active')`),
      statusReason: null,
      suspendedFrom: null,
      suspendedDigest: null,
      suspendedAt: null,
      updatedAt: Date.now(),
    })
  return findWaitingLanes(transaction, ids)
}

/** @returns the ids of the installations that have waiting jobs: a job's lane is its installation */
function findWaitingLanes(db: Db, ids: readonly string[]): Promise<string[]> {
  const waiting = db('jobs').select(db.raw('1')).whereRaw(`state = 'waiting'`)
  return db('installations')
    .whereIn('id', ids)
    .whereExists(waiting.where('lane', db.ref('installations.id')))
    .pluck('id')
}
