import type { Db, JobKind } from '../db.ts'
import { inTexts, inUnlocked, isPostgres, jsonTexts, lockUnlocked, rawRows } from '../sql.ts'
import { type Job, jobColumns, mostInterruptions } from './jobs.ts'

/** The lease of a claim: its host, and how long it holds. */
export type Lease = { leaseId: string; hostId: string; nowMs: number; leaseMs: number }

/** The fields of a due job that fairness needs to choose it. */
export type Candidate = Pick<Job, 'id' | 'lane' | 'owner' | 'size' | 'attempt' | 'dueAt'>

export type CandidatePage = {
  candidates: Candidate[]
  /** The last lane of the page; `undefined` when no lanes are left. */
  next: string | undefined
}

const candidateColumns = 'id, lane, owner, size, attempt, due_at'
const foundColumns = 'found.id, found.lane, found.owner, found.size, found.attempt, found.due_at'

/** Lanes that one page covers. */
const lanesOfPage = 1_000

/**
 * Steps from lane to lane through the index: a lane costs the same with one job as with a million. The kind is a literal,
 * as SQLite uses a partial index only for literals.
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
 * Due jobs of the lane `open.lane`: its retries, its first attempts, and the first job of an ordered lane. Each subquery
 * reads the index up to a limit, also when PostgreSQL's statistics are out of date.
 *
 * The values of selects are unknown to PostgreSQL as it plans. It would turn `(attempt > 0) = false` into a condition that no
 * index has, and for a literal kind choose an index of all lanes.
 */
function dueOfLane(db: Db, kind: JobKind, perLane: number): string {
  // On SQLite the rows are found by these ids. PostgreSQL takes the rows as they are: it would read all jobs for a join.
  const fields = isPostgres(db) ? candidateColumns : 'id'
  const due = `kind = (select '${kind}') and state = 'due' and lane = open.lane and ordered = false and due_at <= ?`
  const retries = `select ${fields} from jobs where ${due} and (attempt > 0) = (select true) order by due_at limit ${perLane}`
  const firsts = `select ${fields} from jobs where ${due} and (attempt > 0) = (select false)
    and open.lane not in ${jsonTexts(db)} order by due_at limit ${perLane}`
  const first = `select ${candidateColumns}, kind, state from jobs where lane = open.lane and ordered and state <> 'failed'
    order by position limit 1`
  return `select ${fields} from (${retries}) as retries
    union all select ${fields} from (${firsts}) as firsts
    union all select ${fields} from (${first}) as first where kind = '${kind}' and state = 'due' and due_at <= ?`
}

/** True for a lane whose owner may begin jobs. All jobs of a lane have one owner. */
const isOfOtherOwner = (db: Db, kind: JobKind): string =>
  `(select owner from jobs where state = 'due' and kind = '${kind}' and lane = lanes.lane limit 1) not in ${jsonTexts(db)}`

/**
 * Reads due jobs of a kind, lane after lane: retries first, and by due time.
 *
 * @param given.after the last lane of the page before
 * @param given.without lanes that may begin no job
 * @param given.retriesOnly lanes that may begin no first attempt
 * @param given.withoutOwners owners that may begin no job
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
  const from = isPostgres(db)
    ? `(${open} order by number) as open, lateral (${due}) as found`
    : `(${open}) as open cross join jobs as found on found.id in (${due})`
  const bindings = [after, JSON.stringify(without)]
  if (owners !== '') bindings.push(JSON.stringify(withoutOwners))
  // Unsorted: to sort them, the database would read the jobs of all lanes.
  const count = '(select max(number) from lanes where lane is not null) as lanes'
  const sql = `${lanesAfter(kind)} select open.number, ${count}, ${foundColumns} from ${from} limit ${limit}`
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

/** Claims the given jobs that are still due. Two hosts never get the same job. */
export async function leaseJobs(db: Db, ids: readonly string[], lease: Lease): Promise<Job[]> {
  if (ids.length === 0) return []
  const { leaseId, hostId, nowMs, leaseMs } = lease
  // `state || ''`: PostgreSQL must not take an index of due jobs.
  const due = `select id from jobs where id ${inTexts(db)} and state || '' = 'due' and due_at <= ?`
  const rows = await rawRows<Job>(
    db,
    `update jobs set state = 'running', attempt = attempt + 1, lease_id = ?, host_id = ?, claimed_at = ?, lease_until = ?
     where id ${inUnlocked(db, due)} returning ${jobColumns}`,
    [leaseId, hostId, nowMs, nowMs + leaseMs, JSON.stringify(ids), nowMs],
  )
  const leased = new Map(rows.map((job) => [job.id, job]))
  return ids.flatMap((id) => leased.get(id) ?? [])
}

/** Extends the claims of jobs in flight. */
export async function renewLeases(db: Db, leaseIds: readonly string[], untilMs: number): Promise<void> {
  await db.raw(`update jobs set lease_until = ? where state = 'running' and lease_id ${inTexts(db)}`, [
    untilMs,
    JSON.stringify(leaseIds),
  ])
}

/** The condition of the index of jobs with a later due time: retries and scheduled tasks. */
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

/** Selects claims: all, those of a host, or those with a lapsed lease. */
export type EndingClaims = 'all' | { hostId: string } | { lapsedAtMs: number }

const cutOff = `interruptions = interruptions + 1,
  attempt = case when kind = 'delivery' or interruptions < ${mostInterruptions} then attempt - 1 else attempt end`

/**
 * Makes claimed jobs due again. An interrupted run does not count for the retry schedule. A script must not end its host for ever:
 * for events and tasks, interrupted runs count after the first `mostInterruptions`.
 *
 * @returns the jobs before the change
 */
export async function endClaims(db: Db, kinds: readonly JobKind[], which: EndingClaims): Promise<Job[]> {
  const query = db('jobs').where({ state: 'running' }).whereIn('kind', kinds)
  if (which !== 'all') {
    if ('hostId' in which) query.where('hostId', which.hostId)
    else query.where('leaseUntil', '<', which.lapsedAtMs)
  }
  const jobs: Job[] = await lockUnlocked(db, query)
  if (jobs.length === 0) return []
  await db.raw(
    `update jobs set state = 'due', ${cutOff}, lease_id = null, lease_until = null, host_id = null, claimed_at = null
     where id ${inTexts(db)}`,
    [JSON.stringify(jobs.map(({ id }) => id))],
  )
  return jobs
}
