import { withPrefix } from '../../ids.ts'
import { jsonRows, rawRows } from '../../json-rows.ts'
import type { Db } from '../../open-database.ts'
import type { EndpointState } from '../endpoints.ts'
import { insertJobs } from '../jobs.ts'
import { type DeliveryFilter, narrow } from './list-deliveries.ts'

/** A delivery that is to be sent again, and when. */
export type Again = { id: string; dueAt: number }

type Owed = { id: string; endpointId: string }

/**
 * Owes deliveries again that are settled: each begins a new round of the schedule, and its attempts are counted on.
 *
 * @returns the ids of those that were not owed
 */
export async function oweAgain(db: Db, all: readonly Again[]): Promise<string[]> {
  if (all.length === 0) return []
  const owed = await rawRows<Owed>(
    db,
    `update deliveries set state = 'owed', reason = null, finished_at = null
     from ${jsonRows(db, 'again', { id: 'text', dueAt: 'bigint' })}
     where deliveries.id = again.id and deliveries.state <> 'owed'
     returning deliveries.id as id, deliveries.endpoint_id as endpoint_id`,
    [JSON.stringify(all)],
  )
  const endpoints = await findStates(db, owed)
  const dueAt = new Map(all.map((again) => [again.id, again.dueAt]))
  await insertJobs(
    db,
    // Ids sort by time: in the order in which they were owed first.
    owed.sort(byId).map(({ id, endpointId }) => {
      const endpoint = endpoints.get(endpointId)
      return {
        id: withPrefix(id, 'job'),
        kind: 'delivery',
        subject: { id },
        lane: endpointId,
        dueAt: dueAt.get(id) ?? 0,
        state: endpoint?.state === 'paused' ? 'waiting' : 'due',
        ordered: Boolean(endpoint?.ordered),
      }
    }),
  )
  return owed.map(({ id }) => id)
}

const byId = (one: Owed, other: Owed): number => (one.id < other.id ? -1 : 1)

async function findStates(
  db: Db,
  owed: readonly Owed[],
): Promise<Map<string, { state: EndpointState; ordered: boolean | number }>> {
  const ids = [...new Set(owed.map(({ endpointId }) => endpointId))]
  const rows = await db('endpoints').select('id', 'state', 'ordered').whereIn('id', ids)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Which failed deliveries: `sinceMs` is when they failed, in Unix ms. */
export type FailedFilter = Omit<DeliveryFilter, 'state'> & { sinceMs: number }

/** `disabled`: those that cannot be sent, as their endpoint is disabled. */
export async function countFailed(
  db: Db,
  filter: FailedFilter,
): Promise<{ count: number; disabled: number }> {
  const disabled = `case endpoints.state when 'disabled' then 1 else 0 end`
  const row = await fromFailed(db, filter)
    .select(db.raw(`count(*) as of_all, coalesce(sum(${disabled}), 0) as of_disabled`))
    .first<{ ofAll: number; ofDisabled: number }>()
  return { count: Number(row.ofAll) - Number(row.ofDisabled), disabled: Number(row.ofDisabled) }
}

/** The next up to `limit` that can be sent, after the id `after`. */
export async function listFailed(
  db: Db,
  filter: FailedFilter,
  page: { after: string; limit: number },
): Promise<string[]> {
  return fromFailed(db, filter)
    .where('endpoints.state', '<>', 'disabled')
    .where('deliveries.id', '>', page.after)
    .orderBy('deliveries.id')
    .limit(page.limit)
    .pluck('deliveries.id')
}

function fromFailed(db: Db, { sinceMs, ...filter }: FailedFilter) {
  const query = db('deliveries')
    .join('endpoints', 'endpoints.id', 'deliveries.endpointId')
    // Written out: the index of failed ones is found by it.
    .whereRaw(`deliveries.state = 'failed'`)
    .where('deliveries.finishedAt', '>=', sinceMs)
  narrow(db, query, filter)
  return query
}
