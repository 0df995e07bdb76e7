import type { Db } from '../db.ts'
import { installationRows, noteChange } from './installations.ts'

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
    .whereNull('hold')
    .update({ hold: 'suspended', holdReason: reason, suspendedDigest: digest, suspendedAt: Date.now() })
  await noteChange(db, [id])
  return changed === 1
}

/** A suspension stays. */
export async function pauseInstallation(db: Db, id: string): Promise<void> {
  await db('installations').where({ id }).whereNull('hold').update({ hold: 'paused' })
  await noteChange(db, [id])
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
  const isOther = { integration, hold: 'suspended' }
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
  const row = await transaction('installations').where({ id: installationId }).forShare().first('hold')
  return (row?.hold ?? null) !== null
}

/**
 * Reads which installations get events. A resume of a paused or suspended installation waits for the transaction, and
 * finds the jobs that it stores.
 *
 * @returns whether events wait for a resume, by the installation's id. Installations that are held while they are pending are left
 *   out.
 */
export async function lockRecipients(transaction: Db, ids: readonly string[]): Promise<Map<string, boolean>> {
  const read = (among: readonly string[]) => installationRows(transaction).whereIn('id', among).clearSelect()
  const columns = ['id', 'hold', 'levels.status']
  const rows: Held[] = await read([...new Set(ids)]).select(columns)
  const held = rows.filter(({ hold }) => hold !== null).map(({ id }) => id)
  // Active installations are not locked: each lock would be a write, for every publisher.
  const again: Held[] = held.length === 0 ? [] : await read(held).select(columns).forShare()
  const now = new Map([...rows, ...again].map((row) => [row.id, row]))
  return new Map(
    [...now.values()].flatMap(({ id, hold, status }): [string, boolean][] =>
      hold === null || status !== 'pending' ? [[id, hold !== null]] : [],
    ),
  )
}

type Held = { id: string; hold: string | null; status: string }

const unsuspended = { suspendedAt: null, suspendedReason: null, suspendedDigest: null }

async function resumeInstallations(transaction: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  await transaction('installations')
    .whereIn('id', ids)
    .update({ hold: null, holdReason: null, suspendedDigest: null, suspendedAt: null })
  await noteChange(transaction, ids)
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
