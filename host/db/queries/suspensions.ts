import type { Db } from '../db.ts'
import { isPostgres } from '../sql.ts'

/** Why something is suspended, and the version of the script that did it. */
export type Suspension = { reason: string; digest: string }

/** @returns false when it did not run anyway */
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

/** The integration as a whole: its endpoint and tasks outside of installations. */
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
 * @returns the lanes for which work has waited, to be released when this is committed (`releaseWaiting`)
 */
export async function resumeInstallation(transaction: Db, id: string): Promise<string[]> {
  return resumeInstallations(transaction, [id])
}

/** @returns as `resumeInstallation` */
export async function resumeIntegration(transaction: Db, name: string): Promise<string[]> {
  await transaction('integrations').where({ name }).update(unsuspended)
  return [name]
}

/** A new version begins without a record: what is suspended for another one goes on. @returns as `resumeInstallation` */
export async function liftSuspensions(
  transaction: Db,
  integration: string,
  digest: string,
): Promise<string[]> {
  const isOther = { integration, status: 'suspended' }
  const ids = await transaction('installations')
    .where(isOther)
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
 * Whether work of the level has to wait. A resume at the same time comes before this or waits for the end of this
 * transaction: no job is laid aside after the resume that would have taken it up.
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
 * Reads which of these installations take events, and for which of them events wait. A resume of one whose events wait
 * comes after the transaction, and finds the jobs that it stores.
 *
 * @returns whether events wait, by the installation's id. An installation that is pending is left out, and so is one that
 *   was pending when it was suspended.
 */
export async function lockTaking(transaction: Db, ids: readonly string[]): Promise<Map<string, boolean>> {
  const read = (among: readonly string[]) =>
    transaction('installations').whereIn('id', among).select('id', 'status', 'suspendedFrom')
  const rows: Held[] = await read([...new Set(ids)])
  const held = rows.filter(({ status }) => heldStatuses.includes(status)).map(({ id }) => id)
  // Only these are locked: a lock of all would make concurrent publishers write each row.
  const again: Held[] = held.length === 0 || !isPostgres(transaction) ? [] : await read(held).forShare()
  const now = new Map([...rows, ...again].map((row) => [row.id, row]))
  return new Map(
    [...now.values()].flatMap(({ id, status, suspendedFrom }): [string, boolean][] => {
      const waits = heldStatuses.includes(status)
      return status === 'active' || (waits && suspendedFrom !== 'pending') ? [[id, waits]] : []
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
