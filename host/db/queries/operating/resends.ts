import { nowOf } from '../../database-clock.ts'
import type { Db } from '../../db.ts'
import { createId } from '../../ids.ts'
import { insertJobs } from '../jobs.ts'
import { type Again, type FailedFilter, oweAgain } from './send-again.ts'

/** - `done`: all are owed again. What becomes of each is its own affair. */
export type ResendState = 'running' | 'done' | 'stopped'

/** Failed deliveries that are sent again together: which, how fast, and how far that has come. */
export type Resend = {
  id: string
  filter: FailedFilter
  perSecond: number
  state: ResendState
  /** How many there were when it was asked for. */
  count: number
  /** How many are owed again by now. */
  sent: number
  /** The id of the last delivery that was looked at. */
  after: string
  createdAt: number
  finishedAt: number | null
}

/** Whose: an organization's own, or all for an operator. */
type Own = { organizationId?: string }

/** Of those that are over, the newest so many are kept of each organization, and of operators. */
const keptOver = 100

/** Stores one with the job that does it, and forgets old ones that are over. @returns its id */
export async function insertResend(
  transaction: Db,
  { organizationId }: Own,
  given: Pick<Resend, 'filter' | 'perSecond' | 'count'>,
): Promise<string> {
  const { filter, perSecond, count } = given
  const id = createId('rsd')
  const whose = { organizationId: organizationId ?? null }
  const begun = { state: 'running', sent: 0, after: '', createdAt: Date.now() }
  await transaction('resends').insert({
    ...{ id, ...whose, filter: JSON.stringify(filter), perSecond, count, ...begun },
  })
  const dueAt = nowOf(transaction)
  await insertJobs(transaction, [{ kind: 'resend', subject: { id }, lane: id, dueAt }])
  const over = transaction('resends').where(whose).whereNot({ state: 'running' })
  const old = await over.orderBy('id', 'desc').offset(keptOver).limit(keptOver).pluck('id')
  await transaction('resends').whereIn('id', old).delete()
  return id
}

/** @returns how many of them are running that the organization has asked for, or that operators have */
export async function countRunningResends(db: Db, { organizationId }: Own): Promise<number> {
  const where = { state: 'running', organizationId: organizationId ?? null }
  const row = await db('resends').where(where).count({ count: '*' }).first()
  return Number(row?.count ?? 0)
}

/** The newest first. `before`: the id of one, where the next page begins. */
export async function listResends(
  db: Db,
  own: Own,
  { before, limit }: { before?: string; limit: number },
): Promise<Resend[]> {
  const query = db('resends').where(own).orderBy('id', 'desc').limit(limit)
  if (before !== undefined) query.where('id', '<', before)
  return (await query).map(toResend)
}

export async function findResend(db: Db, id: string, own: Own = {}): Promise<Resend | undefined> {
  const row = await db('resends')
    .where({ id, ...own })
    .first()
  return row && toResend(row)
}

/** @returns whether it was running */
export async function stopResend(db: Db, id: string): Promise<boolean> {
  const stopped = { state: 'stopped', finishedAt: Date.now() }
  return (await db('resends').where({ id, state: 'running' }).update(stopped)) === 1
}

/** The next deliveries of a resend, when each comes due, and whether there are no more after them. */
export type Slice = { id: string; deliveries: readonly Again[]; isLast: boolean }

/** Owes slices of resends again that nobody has stopped meanwhile. A step of a group commit. */
export async function oweSlices(transaction: Db, slices: readonly Slice[]): Promise<[]> {
  for (const { id, deliveries, isLast } of slices) {
    const running = await transaction('resends').where({ id, state: 'running' }).forUpdate().first('id')
    if (running === undefined) continue
    const owed = await oweAgain(transaction, deliveries)
    const last = deliveries.at(-1)
    await transaction('resends')
      .where({ id })
      .increment('sent', owed.length)
      .update({
        ...(last !== undefined && { after: last.id }),
        ...(isLast && { state: 'done', finishedAt: Date.now() }),
      })
  }
  return []
}

const toResend = ({ organizationId: _, filter, ...row }: Omit<Resend, 'filter'> & Row): Resend => ({
  ...row,
  filter: JSON.parse(filter),
})

type Row = { organizationId: string | null; filter: string }
