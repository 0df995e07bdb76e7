import type { Db } from '../db.ts'
import { isPostgres, jsonTexts, rawRows } from '../sql.ts'
import { type Job, type JobKind, mostInterruptions } from './jobs.ts'

/** Who claims, and until when the claim holds. */
export type Lease = { leaseId: string; hostId: string; nowMs: number; leaseMs: number }

/** A due job as far as it takes to choose it. */
export type Candidate = Pick<Job, 'id' | 'lane' | 'owner' | 'size' | 'attempt' | 'dueAt'>

export type CandidatePage = {
  candidates: Candidate[]
  /** The last lane that was looked at, where there may be more lanes. */
  next: string | undefined
}

/** Lanes that one page covers. */
const lanesOfPage = 1_000

/**
 * Steps from lane to lane through the index, so that a lane costs the same whether it has one job or a million. The kind is
 * written out: SQLite chooses a partial index by it.
 */
function lanesAfter(kind: JobKind): string {
  const next = (after: string) =>
    `select lane from jobs where state = 'due' and kind = '${kind}' and lane > ${after} order by lane limit 1`
  return `with recursive lanes(lane, number) as materialized (
    select (${next('?')}), 1
    union all
    select (${next('lanes.lane')}), number + 1 from lanes where lane is not null and number < ${lanesOfPage}
  )`
}

/**
 * Due jobs of the lane `open.lane`: its retries, its first attempts, and the first job of an ordered lane. Each is read from
 * the index up to a limit, whatever the statistics of PostgreSQL say.
 */
function dueOfLane(db: Db, kind: JobKind, perLane: number): string {
  const due = `kind = '${kind}' and state = 'due' and lane = open.lane and ordered = false and due_at <= ?`
  const retries = `select id from jobs where ${due} and (attempt > 0) = true order by due_at limit ${perLane}`
  const firsts = `select id from jobs where ${due} and (attempt > 0) = false
    and open.lane not in ${jsonTexts(db)} order by due_at limit ${perLane}`
  const first = `select id, kind, state, due_at from jobs where lane = open.lane and ordered and state <> 'failed'
    order by position limit 1`
  return `select id from (${retries}) as retries
    union all select id from (${firsts}) as firsts
    union all select id from (${first}) as first where kind = '${kind}' and state = 'due' and due_at <= ?`
}

/** True for a lane whose owner may begin something. All jobs of a lane have one owner. */
const isOfOtherOwner = (db: Db, kind: JobKind): string =>
  `(select owner from jobs where state = 'due' and kind = '${kind}' and lane = lanes.lane limit 1) not in ${jsonTexts(db)}`

/**
 * Reads due jobs of a kind, lane after lane: retries first, and the longest due first.
 *
 * @param given.after begins behind this lane
 * @param given.without lanes that may begin nothing
 * @param given.retriesOnly lanes that may begin no first attempt
 * @param given.withoutOwners owners that may begin nothing
 */
export async function readCandidates(
  db: Db,
  kind: JobKind,
  given: {
    after: string
    without: readonly string[]
    retriesOnly: readonly string[]
    withoutOwners: readonly string[]
    perLane: number
    limit: number
    nowMs: number
  },
): Promise<CandidatePage> {
  const { after, without, retriesOnly, withoutOwners, perLane, limit, nowMs } = given
  const owners = withoutOwners.length === 0 ? '' : `and ${isOfOtherOwner(db, kind)}`
  const open = `select lane, number from lanes where lane is not null and lane not in ${jsonTexts(db)} ${owners}`
  const due = dueOfLane(db, kind, perLane)
  const fields = 'found.id, found.lane, found.owner, found.size, found.attempt, found.due_at'
  const from = isPostgres(db)
    ? `(${open} order by number) as open, lateral (select jobs.* from (${due}) as due join jobs on jobs.id = due.id) as found`
    : `(${open}) as open cross join jobs as found on found.id in (${due})`
  const bindings = [after, JSON.stringify(without)]
  if (owners !== '') bindings.push(JSON.stringify(withoutOwners))
  // Not sorted by the database: it would read the jobs of all lanes for that.
  const count = '(select max(number) from lanes where lane is not null) as lanes'
  const sql = `${lanesAfter(kind)} select open.number, ${count}, ${fields} from ${from} limit ${limit}`
  const rows = await rawRows<Candidate & { number: number; lanes: number }>(db, sql, [
    ...bindings,
    nowMs,
    nowMs,
    JSON.stringify(retriesOnly),
    nowMs,
  ])
  const candidates = rows.toSorted(
    (one, other) =>
      one.number - other.number ||
      Number(other.attempt > 0) - Number(one.attempt > 0) ||
      one.dueAt - other.dueAt,
  )
  if (candidates.length === limit) return { candidates, next: candidates.at(-1)?.lane }
  if (rows[0] !== undefined && rows[0].lanes < lanesOfPage) return { candidates, next: undefined }
  const last = `${lanesAfter(kind)} select lane from lanes where number = ${lanesOfPage}`
  const [row] = await rawRows<{ lane: string | null }>(db, last, [after])
  return { candidates, next: row?.lane ?? undefined }
}

/** Claims those of the jobs that are still due. No two hosts get the same job. */
export async function leaseJobs(db: Db, ids: readonly string[], lease: Lease): Promise<Job[]> {
  if (ids.length === 0) return []
  const { leaseId, hostId, nowMs, leaseMs } = lease
  const due = `select id from jobs where id in ${jsonTexts(db)} and state = 'due' and due_at <= ?`
  const which = isPostgres(db) ? `= any (array (${due} for update skip locked))` : `in (${due})`
  const rows = await rawRows<Job>(
    db,
    `update jobs set state = 'running', attempt = attempt + 1, lease_id = ?, host_id = ?, claimed_at = ?, lease_until = ?
     where id ${which} returning *`,
    [leaseId, hostId, nowMs, nowMs + leaseMs, JSON.stringify(ids), nowMs],
  )
  const leased = new Map(rows.map((job) => [job.id, job]))
  return ids.flatMap((id) => leased.get(id) ?? [])
}

/** Makes claims hold for longer: those whose jobs are in flight. */
export async function renewLeases(db: Db, leaseIds: readonly string[], untilMs: number): Promise<void> {
  await db.raw(`update jobs set lease_until = ? where state = 'running' and lease_id in ${jsonTexts(db)}`, [
    untilMs,
    JSON.stringify(leaseIds),
  ])
}

/** Jobs that come due by themselves, as a condition of their index: retries, and tasks for later. */
export const comesDue = `state = 'due' and due_at > created_at`

/** When the next job of a kind comes due after `afterMs`, in Unix ms. */
export async function nextDueAt(db: Db, kind: JobKind, afterMs: number): Promise<number | undefined> {
  const row = await db('jobs')
    .where({ kind })
    .where('dueAt', '>', afterMs)
    .whereRaw(comesDue)
    .orderBy('dueAt')
    .first('dueAt')
  return row?.dueAt
}

/** Which claims end: all of them, those of a host, or those whose lease has lapsed. */
export type EndingClaims = 'all' | { hostId: string } | { lapsedAtMs: number }

const cutOff = `interruptions = interruptions + 1,
  attempt = case when kind = 'delivery' or interruptions < ${mostInterruptions} then attempt - 1 else attempt end`

/**
 * Makes claimed jobs due again. A run that was cut off is no attempt for the retry schedule. A script may be what ends its
 * host, and must not do so for ever: for events and tasks that holds up to `mostInterruptions`.
 *
 * @returns the jobs as they were
 */
export async function endClaims(db: Db, kinds: readonly JobKind[], which: EndingClaims): Promise<Job[]> {
  const query = db('jobs').where({ state: 'running' }).whereIn('kind', kinds)
  if (which !== 'all') {
    if ('hostId' in which) query.where('hostId', which.hostId)
    else query.where('leaseUntil', '<', which.lapsedAtMs)
  }
  const jobs: Job[] = isPostgres(db) ? await query.forUpdate().skipLocked() : await query
  if (jobs.length === 0) return []
  await db.raw(
    `update jobs set state = 'due', ${cutOff}, lease_id = null, lease_until = null, host_id = null, claimed_at = null
     where id in ${jsonTexts(db)}`,
    [JSON.stringify(jobs.map(({ id }) => id))],
  )
  return jobs
}
