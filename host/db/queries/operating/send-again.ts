import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { withPrefix } from '../../ids.ts'
import { endOfWindow, type Look, type Looked, type Source, windowOf } from '../../looks/window.ts'
import { isPostgres, jsonRows, jsonTexts, rawRows } from '../../rows/json-rows.ts'
import { toDeliveryJob } from '../deliveries.ts'
import type { Place } from '../endpoints.ts'
import { insertJobs } from '../jobs.ts'
import { type DeliveryFilter, hasReason, narrow, rangeOf } from './list-deliveries.ts'

/** A delivery that is to be sent again, and when (Unix ms). */
export type Again = { id: string; dueAt: number }

type Owed = { id: string; endpointId: string; installationId: string; bodySize: number }

/**
 * Owes deliveries again that are settled: each begins a new round of the schedule, and its attempts are counted on. Those
 * of an installation that moves stay as they are: what its export has not got would be lost.
 *
 * @returns the ids of those that are owed by this
 */
export async function oweAgain(db: Db, all: readonly Again[]): Promise<string[]> {
  if (all.length === 0) return []
  await holdStill(db, all)
  const owed = await rawRows<Owed>(
    db,
    `update deliveries set state = 'owed', reason = null, finished_at = null, refused_id = null
     from ${jsonRows(db, 'again', { id: 'text', dueAt: 'bigint' })}
     where deliveries.id = again.id and deliveries.state <> 'owed'
       and exists (select 1 from installations where id = deliveries.installation_id and status <> 'moving')
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

/** Nobody begins to move their installations before the end of the transaction. SQLite has one at a time. */
async function holdStill(db: Db, all: readonly Again[]): Promise<void> {
  if (!isPostgres(db)) return
  const ids = JSON.stringify(all.map(({ id }) => id))
  const theirs = `select installation_id from deliveries where id in ${jsonTexts(db)}`
  await db.raw(`select id from installations where id in (${theirs}) order by id for share`, [ids])
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

/**
 * `count`: those that can be sent. Others cannot: of `disabled` the endpoint is disabled, of `moving` the installation
 * moves.
 */
export type FailedCount = { count: number; disabled: number; moving: number }

type CountedPage = { ofAll: number; ofDisabled: number; ofMoving: number }

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
        coalesce(sum(case when status = 'moving' then 1 else 0 end), 0) as of_moving,
        coalesce(sum(case when status <> 'moving' and endpoints.state = 'disabled' then 1 else 0 end), 0) as of_disabled`),
    )
    .first<CountedPage>()
  const [all, disabled, moving] = [Number(row.ofAll), Number(row.ofDisabled), Number(row.ofMoving)]
  return { count: all - disabled - moving, disabled, moving, reached }
}

/** The ids of those that fit and can be sent, of what a look looks at. */
export async function listSomeFailed(db: Db, filter: FailedFilter, look: Look): Promise<Looked<string>> {
  const { some, reached } = await lookAtFailed(db, filter, look)
  const items = await some
    .where('endpoints.state', '<>', 'disabled')
    .where('installations.status', '<>', 'moving')
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
    .join('installations', 'installations.id', 'deliveries.installationId')
    .whereBetween('deliveries.finishedAt', [sinceMs, upToMs])
  narrow(db, some, { ...filter, state: 'failed' })
  return { some, reached: await endOfWindow(db, failed, range, rows) }
}
