import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { withPrefix } from '../../ids.ts'
import { endOfWindow, type Look, type Looked, type Source, windowOf } from '../../looks/window.ts'
import { jsonRows, rawRows } from '../../sql.ts'
import { toDeliveryJob } from '../deliveries.ts'
import type { Place } from '../endpoints.ts'
import { insertJobs } from '../jobs.ts'
import { type DeliveryFilter, hasReason, narrow, rangeOf } from './list-deliveries.ts'

/** A delivery that is to be sent again, and when (Unix ms). */
export type Again = { id: string; dueAt: number }

type Owed = { id: string; endpointId: string; installationId: string; bodySize: number }

/**
 * Owes deliveries again that are settled: each begins a new round of the schedule, and its attempts are counted on.
 *
 * @returns the ids of those that are owed by this
 */
export async function oweAgain(db: Db, all: readonly Again[]): Promise<string[]> {
  if (all.length === 0) return []
  const owed = await rawRows<Owed>(
    db,
    `update deliveries set state = 'owed', reason = null, finished_at = null, refused_id = null
     from ${jsonRows(db, 'again', { id: 'text', dueAt: 'bigint' })}
     where deliveries.id = again.id and deliveries.state <> 'owed'
     returning deliveries.id as id, deliveries.endpoint_id as endpoint_id, deliveries.installation_id as installation_id,
       (select octet_length(body) from bodies where bodies.id = deliveries.body_id) as body_size`,
    [JSON.stringify(all)],
  )
  const endpoints = await findStates(db, owed)
  const dueAt = new Map(all.map((again) => [again.id, again.dueAt]))
  await insertJobs(
    db,
    // Ids sort by time: in the order in which they were owed first.
    owed.sort(byId).map((delivery) => {
      const place = endpoints.get(delivery.endpointId) ?? { state: 'active', ordered: false }
      return toDeliveryJob(delivery, place, dueAt.get(delivery.id) ?? 0)
    }),
  )
  return owed.map(({ id }) => id)
}

/**
 * Has the next attempt of a pending delivery made now, where it waits for its time: also behind a `Retry-After`. It is the next of
 * its schedule.
 *
 * @returns what the delivery waits for otherwise: `running` for the end of an attempt, `waiting` for a resume
 */
export async function bringForward(db: Db, id: string, nowMs: number): Promise<string | undefined> {
  const job = { id: withPrefix(id, 'job'), kind: 'delivery' }
  await db('jobs')
    .where({ ...job, state: 'due' })
    .where('dueAt', '>', nowMs)
    .update({ dueAt: nowMs })
  return (await db('jobs').where(job).first('state'))?.state
}

const byId = (one: Owed, other: Owed): number => (one.id < other.id ? -1 : 1)

/** Whoever resumes a paused one waits for the end of the transaction, and finds what is to wait for it. */
async function findStates(
  db: Db,
  owed: readonly Owed[],
): Promise<Map<string, Pick<Place, 'state' | 'ordered'>>> {
  const ids = [...new Set(owed.map(({ endpointId }) => endpointId))]
  const rows = await db('endpoints').select('id', 'state', 'ordered').whereIn('id', ids).forShare()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Which failed deliveries: those that failed from `sinceMs` to `upToMs`, in Unix ms. */
export type FailedFilter = Omit<DeliveryFilter, 'state'> & { sinceMs: number; upToMs: number }

/** `count`: those that can be sent. `disabled`: those whose endpoint is disabled, which cannot be sent. */
export type FailedCount = { count: number; disabled: number }

type CountedPage = { ofAll: number; ofDisabled: number }

/** Counts those that fit of what a look looks at. @returns with how far that is, as `Looked` */
export async function countSomeFailed(
  db: Db,
  filter: FailedFilter,
  look: Omit<Look, 'limit'>,
): Promise<FailedCount & { reached: string | undefined }> {
  const { some, reached } = await lookAtFailed(db, filter, look)
  const row = await some
    .select(
      db.raw(`count(*) as of_all,
        coalesce(sum(case when endpoints.state = 'disabled' then 1 else 0 end), 0) as of_disabled`),
    )
    .first<CountedPage>()
  const [all, disabled] = [Number(row.ofAll), Number(row.ofDisabled)]
  return { count: all - disabled, disabled, reached }
}

/** The ids of those that fit and can be sent, of what a look looks at. */
export async function listSomeFailed(db: Db, filter: FailedFilter, look: Look): Promise<Looked<string>> {
  const { some, reached } = await lookAtFailed(db, filter, look)
  const items = await some
    .where('endpoints.state', '<>', 'disabled')
    .orderBy('deliveries.id')
    .limit(look.limit)
    .pluck('deliveries.id')
  return { items, reached }
}

const failed: Source = { table: 'deliveries', column: 'id', order: 'asc', where: hasReason }

async function lookAtFailed(
  db: Db,
  { sinceMs, upToMs, ...filter }: FailedFilter,
  { place, rows }: Omit<Look, 'limit'>,
): Promise<{ some: Knex.QueryBuilder; reached: string | undefined }> {
  const range = { ...rangeOf(filter), after: place }
  const some = db
    .from(windowOf(db, failed, range, rows).as('deliveries'))
    .join('endpoints', 'endpoints.id', 'deliveries.endpointId')
    .whereBetween('deliveries.finishedAt', [sinceMs, upToMs])
  narrow(db, some, { ...filter, state: 'failed' })
  return { some, reached: await endOfWindow(db, failed, range, rows) }
}
