import { isPostgres, jsonTexts, rawRows } from '../json-rows.ts'
import type { Db } from '../open-database.ts'
import type { Job, JobKind } from './jobs.ts'

/** Whose claim it is, and until when it holds. */
export type Lease = { leaseId: string; hostId: string; nowMs: number; leaseMs: number }

/**
 * Lanes that have a job of the kind that is due, in the order of their names, from after `after` on. It steps from lane
 * to lane through the index, so that it costs the same whether each has one job or a million.
 *
 * @returns how far it came, `undefined` for the last lane, and those of the lanes with something due
 */
export async function findDueLanes(
  db: Db,
  kind: JobKind,
  given: { after: string; nowMs: number; limit: number },
): Promise<{ reached: string | undefined; lanes: string[] }> {
  const isDue = `state = 'due' and kind = ?`
  const rows = await rawRows<{ lane: string | null; dueAt: number | null }>(
    db,
    `with recursive seen(lane, number) as (
       select (select min(lane) from jobs where ${isDue} and lane > ?), 1
       union all
       select (select min(lane) from jobs where ${isDue} and lane > seen.lane), number + 1
       from seen where lane is not null and number <= ?
     )
     select lane, (select min(due_at) from jobs where ${isDue} and jobs.lane = seen.lane) as due_at from seen`,
    [kind, given.after, kind, given.limit, kind],
  )
  const last = rows.at(-1)?.lane ?? undefined
  const due = rows.filter(({ lane, dueAt }) => lane !== null && dueAt !== null && dueAt <= given.nowMs)
  return { reached: last, lanes: due.map(({ lane }) => lane ?? '') }
}

/**
 * Takes due jobs of the lanes, the longest due first and up to `room` of each. No two hosts get the same one.
 * Of a lane that keeps its order it takes the first that is owed, and that when it is due.
 */
export async function claimJobs(
  db: Db,
  kind: JobKind,
  given: { lanes: readonly string[]; room: number; lease: Lease },
): Promise<Job[]> {
  if (given.lanes.length === 0) return []
  const { leaseId, hostId, nowMs, leaseMs } = given.lease
  const isFirst = `(not ordered or not exists (
    select 1 from jobs as before
    where before.lane = due.lane and before.ordered and before.position < due.position and before.state <> 'failed'
  ))`
  const ofLane = `select due.id from jobs as due
    where due.kind = ? and due.state = 'due' and due.lane = lanes.lane and due.due_at <= ? and ${isFirst}
    order by due.due_at limit ?`
  const claim = `update jobs set state = 'running', lease_id = ?, host_id = ?, claimed_at = ?, lease_until = ?,
    attempt = attempt + 1`
  const returned = 'returning id, kind, subject, lane, attempt, due_at, lease_id, claimed_at'
  const values = [leaseId, hostId, nowMs, nowMs + leaseMs]
  const lanes = JSON.stringify(given.lanes)
  if (isPostgres(db)) {
    return rawRows(
      db,
      `with picked as materialized (
         select found.id from jsonb_array_elements_text(?::jsonb) as lanes(lane),
         lateral (${ofLane} for update of due skip locked) as found
       ) ${claim} where id in (select id from picked) ${returned}`,
      [lanes, kind, nowMs, given.room, ...values],
    )
  }
  return rawRows(
    db,
    `${claim} where id in (
       select found.id from (select value as lane from json_each(?)) as lanes
       join jobs as found on found.id in (${ofLane})
     ) ${returned}`,
    [...values, lanes, kind, nowMs, given.room],
  )
}

/** When the next job of one of the kinds comes due after `afterMs`, in Unix ms. */
export async function nextDueAt(
  db: Db,
  kinds: readonly JobKind[],
  afterMs: number,
): Promise<number | undefined> {
  let next: number | undefined
  for (const kind of kinds) {
    const row = await db('jobs')
      .where({ state: 'due', kind })
      .where('dueAt', '>', afterMs)
      .min({ dueAt: 'due_at' })
      .first()
    if (row?.dueAt != null) next = Math.min(next ?? Number.POSITIVE_INFINITY, Number(row.dueAt))
  }
  return next
}

/** Which claims to end: those of some hosts, those whose lease has run out, or one's own. */
export type Abandoned =
  | { leaseUntilBefore: number }
  | { hostIds: readonly string[] }
  | { leaseIds: readonly string[] }
  | 'all'

/**
 * Makes claimed jobs due again. A delivery that was cut off was no attempt for its schedule; a script that was may be
 * what ended the host, and must not do so for ever.
 *
 * @returns them as they were
 */
export async function endClaims(db: Db, kinds: readonly JobKind[], which: Abandoned): Promise<Job[]> {
  const query = db('jobs').where({ state: 'running' }).whereIn('kind', kinds)
  if (which !== 'all') {
    if ('leaseUntilBefore' in which) query.where('leaseUntil', '<', which.leaseUntilBefore)
    if ('hostIds' in which) query.whereRaw(`host_id in ${jsonTexts(db)}`, [JSON.stringify(which.hostIds)])
    if ('leaseIds' in which) query.whereRaw(`lease_id in ${jsonTexts(db)}`, [JSON.stringify(which.leaseIds)])
  }
  const rows: Job[] = isPostgres(db) ? await query.forUpdate().skipLocked() : await query
  if (rows.length === 0) return []
  await db.raw(
    `update jobs set state = 'due', attempt = case kind when 'delivery' then attempt - 1 else attempt end, lease_id = null, lease_until = null, host_id = null, claimed_at = null
     where id in ${jsonTexts(db)}`,
    [JSON.stringify(rows.map(({ id }) => id))],
  )
  return rows
}
