import type { Db } from '../db.ts'
import { runEach } from '../rows/each-row.ts'
import { isPostgres, jsonRows, jsonTexts, rawRows } from '../rows/json-rows.ts'
import { readLongTexts, shortText } from '../rows/short-text.ts'
import { type DueJob, type Job, type JobKind, mostInterruptions } from './jobs.ts'

/** Whose claim it is, and until when it holds. */
export type Lease = { leaseId: string; hostId: string; nowMs: number; leaseMs: number }

/** Lanes that a round looks at, before and after where it begins. */
const lanesOfRound = 1_000

/**
 * Lanes with a job of the kind, from `after` on and then from the first one to `after`. It steps from lane to lane
 * through the index, so that it costs the same whether a lane has one job or a million.
 */
function roundOfLanes(kind: JobKind, after: string): { sql: string; bindings: string[] } {
  const ahead = stepsOf(kind, 'ahead', '')
  // Nearly always a round begins at the first lane: then none is before it, and the text is half as long to run.
  if (after === '') {
    const sql = `with recursive ${ahead},
      lanes(lane, number) as (select lane, number from ahead where lane is not null)`
    return { sql, bindings: [after] }
  }
  const sql = `with recursive ${ahead}, ${stepsOf(kind, 'behind', 'and lane <= ?')},
    lanes(lane, number) as (
      select lane, number from ahead where lane is not null
      union all
      select lane, number + ${lanesOfRound} from behind where lane is not null
    )`
  return { sql, bindings: [after, '', after, after] }
}

/**
 * The kind is written out: it decides which indexes SQLite may take, so that a plan for one that is given at the run is made anew
 * at each, which takes it 33 µs in place of 2.
 *
 * @param until which lanes are the last ones, as a condition
 */
function stepsOf(kind: JobKind, name: string, until: string): string {
  const next = (after: string) =>
    `select lane from jobs where state = 'due' and kind = '${kind}' and lane > ${after} ${until} order by lane limit 1`
  return `${name}(lane, number) as (
    select (${next('?')}), 1
    union all
    select (${next(`${name}.lane`)}), number + 1 from ${name} where lane is not null and number < ${lanesOfRound}
  )`
}

/**
 * Due jobs of the lane `open.lane`, from two places of an index: up to `perLane` of those that keep no order, the longest due first,
 * and of those that do the first that is owed, if it is due. Each stops at a limit, and not at what statistics make of it: those of
 * PostgreSQL may be of a time when next to nothing was owed.
 */
function dueOfLane(kind: JobKind, perLane: number): string {
  const loose = `select id from jobs where kind = '${kind}' and state = 'due' and lane = open.lane and ordered = false
    and due_at <= ? order by due_at limit ${perLane}`
  const first = `select id, kind, state, due_at from jobs where lane = open.lane and ordered and state <> 'failed'
    order by position limit 1`
  return `select id from (${loose}) as loose
    union all
    select id from (${first}) as first where kind = '${kind}' and state = 'due' and due_at <= ?`
}

/** Of deliveries alone an owner may have many lanes: the endpoints of an installation. */
const isOfOther = (db: Db): string =>
  `and not exists (select 1 from endpoints where endpoints.id = lanes.lane and installation_id in ${jsonTexts(db)})`

const jobFields = ['id', 'kind', 'lane', 'attempt', 'interruptions', 'due_at', 'ordered']

/** `subjectLength`: in bytes. */
export type ReadJob = DueJob & { subjectLength: number }

/**
 * Reads due jobs of a kind, the longest due first in each lane and round robin over the lanes, from the one after
 * `after` on. None is claimed by that: other hosts may read them, too.
 *
 * @param given.without lanes that are passed over
 * @param given.withoutOwners installations whose endpoints are passed over
 */
export async function readDueJobs(
  db: Db,
  kind: JobKind,
  given: {
    after: string
    without: readonly string[]
    withoutOwners?: readonly string[]
    perLane: number
    limit: number
    nowMs: number
  },
): Promise<ReadJob[]> {
  const { after, without, withoutOwners = [], perLane, limit, nowMs } = given
  const round = roundOfLanes(kind, after)
  const owners = kind === 'delivery' ? withoutOwners : []
  const open = `select lanes.lane, lanes.number from lanes where lanes.lane not in ${jsonTexts(db)}
    ${owners.length === 0 ? '' : isOfOther(db)}`
  const passed = owners.length === 0 ? [] : [JSON.stringify(owners)]
  const due = dueOfLane(kind, perLane)
  const fields = [...jobFields.map((field) => `found.${field}`), shortText('found.subject', 'subject')].join()
  // Lane after lane, until there are enough, with all of the last one: sorted there, the jobs of all lanes would be read.
  const rows = await rawRows<ReadJob & { number: number }>(
    db,
    isPostgres(db)
      ? `${round.sql} select open.number, ${fields} from (${open} order by lanes.number) as open,
         lateral (select jobs.* from (${due}) as due join jobs on jobs.id = due.id) as found limit ${limit + perLane}`
      : `${round.sql} select open.number, ${fields} from (${open}) as open
         cross join jobs as found on found.id in (${due}) limit ${limit + perLane}`,
    [...round.bindings, JSON.stringify(without), ...passed, nowMs, nowMs],
  )
  return rows
    .toSorted((one, other) => one.number - other.number || one.dueAt - other.dueAt)
    .slice(0, limit)
    .map(({ number: _, ...job }) => job)
}

const takeIt = `update jobs set state = 'running', attempt = attempt + 1,
  lease_id = ?, host_id = ?, claimed_at = ?, lease_until = ?`
/** For the transaction that the statement is by itself, or is in: it does not wait for the server's disk. */
const settlesEarly = `(select set_config('synchronous_commit', 'off', true)) as early`
const readColumns = { id: 'text', dueAt: 'bigint' } as const

/** Takes those of the jobs that are as they were read. No two hosts get the same one. @returns their ids */
export async function claimJobs(db: Db, jobs: readonly DueJob[], lease: Lease): Promise<Set<string>> {
  if (jobs.length === 0) return new Set()
  const { leaseId, hostId, nowMs, leaseMs } = lease
  const claim = [leaseId, hostId, nowMs, nowMs + leaseMs]
  if (!isPostgres(db)) {
    const each = jobs.map(({ id, dueAt }) => [...claim, id, dueAt])
    const counts = await runEach(db, `${takeIt} where id = ? and due_at = ? and state = 'due'`, each)
    return new Set(jobs.flatMap(({ id }, n) => (counts[n] ? [id] : [])))
  }
  // Of several hosts that look at a job one takes it, and the others do not wait. Each is looked up by its id, and found again
  // by its place: however much the statistics are behind, the table is not read.
  const free = `select free.ctid from ${jsonRows(db, 'given', readColumns)}, lateral (
    select jobs.ctid from jobs where jobs.id = given.id and jobs.due_at = given.due_at and jobs.state = 'due'
    for update skip locked
  ) as free`
  const given = JSON.stringify(jobs.map(({ id, dueAt }) => ({ id, dueAt })))
  const takeFree = `${takeIt} from ${settlesEarly} where ctid = any (array (${free})) returning id`
  const rows = await rawRows<{ id: string }>(db, takeFree, [...claim, given])
  return new Set(rows.map(({ id }) => id))
}

/** The subjects of those jobs that were read without, by the jobs' ids. */
export const readLongSubjects = (db: Db, jobs: readonly DueJob[]): Promise<Map<string, string>> =>
  readLongTexts(
    db,
    { table: 'jobs', column: 'subject' },
    jobs.flatMap(({ id, subject }) => (subject === null ? [id] : [])),
  )

/** The last lane that a round from `after` looks at, `undefined` when it looks at all of them. */
export async function endOfRound(db: Db, kind: JobKind, after: string): Promise<string | undefined> {
  const { sql, bindings } = roundOfLanes(kind, after)
  const last = `${sql} select lane from lanes where number = ${lanesOfRound}`
  const [row] = await rawRows<{ lane: string }>(db, last, bindings)
  return row?.lane
}

/**
 * What comes due by itself, as a condition. Written out: the indexes of it are found by that; by another one, all that is owed
 * would be read. A delivery that was due when it was owed is in none of them.
 */
export const comesDue = (kind: JobKind): string =>
  kind === 'delivery'
    ? `state = 'due' and kind = 'delivery' and due_at > created_at`
    : `state = 'due' and kind <> 'delivery' and kind = '${kind}'`

/** When the next job of a kind comes due after `afterMs`, in Unix ms. */
export async function nextDueAt(db: Db, kind: JobKind, afterMs: number): Promise<number | undefined> {
  const row = await db('jobs')
    .where('dueAt', '>', afterMs)
    .whereRaw(comesDue(kind))
    .orderBy('dueAt')
    .first('dueAt')
  return row?.dueAt
}

/**
 * Which claims to end: those of some hosts; those of others whose lease has run out, where they are on the list of hosts no more; or
 * those of one's own of which nothing was begun, by their leases, or as theirs have run out and are none that one knows of.
 * A host that is on the list keeps what it has beyond its lease: while the database is away it cannot store what came of it.
 */
export type Abandoned =
  | { hostIds: readonly string[] }
  | { leaseUntilBefore: number; notOf: string }
  | { leaseUntilBefore: number; of: string; without: readonly string[] }
  | { leaseIds: readonly string[] }
  | 'all'

const cutOff = `interruptions = interruptions + 1,
  attempt = case when kind = 'delivery' or interruptions < ${mostInterruptions} then attempt - 1 else attempt end`

/**
 * Makes claimed jobs due again. What was cut off was no attempt for its schedule. A script may be what ended the host, and
 * must not do so for ever: of events and tasks that is so up to `mostInterruptions`. What others have read of the jobs
 * before holds no longer.
 *
 * @returns those that may have been begun, as they were
 */
export async function endClaims(db: Db, kinds: readonly JobKind[], which: Abandoned): Promise<Job[]> {
  const query = db('jobs').where({ state: 'running' }).whereIn('kind', kinds)
  if (which !== 'all') {
    if ('leaseUntilBefore' in which) query.where('leaseUntil', '<', which.leaseUntilBefore)
    if ('notOf' in which) {
      query
        .whereNot('hostId', which.notOf)
        .whereRaw('not exists (select 1 from hosts where hosts.id = jobs.host_id)')
    }
    if ('of' in which) {
      query
        .where('hostId', which.of)
        .whereRaw(`lease_id not in ${jsonTexts(db)}`, [JSON.stringify(which.without)])
    }
    if ('hostIds' in which) query.whereRaw(`host_id in ${jsonTexts(db)}`, [JSON.stringify(which.hostIds)])
    if ('leaseIds' in which) query.whereRaw(`lease_id in ${jsonTexts(db)}`, [JSON.stringify(which.leaseIds)])
  }
  const rows: Job[] = isPostgres(db) ? await query.forUpdate().skipLocked() : await query
  if (rows.length === 0) return []
  const wereBegun = which === 'all' || !('leaseIds' in which || 'of' in which)
  const counts = wereBegun ? cutOff : 'attempt = attempt - 1'
  await db.raw(
    `update jobs set state = 'due', ${counts},
       due_at = due_at + 1, lease_id = null, lease_until = null, host_id = null, claimed_at = null
     where id in ${jsonTexts(db)}`,
    [JSON.stringify(rows.map(({ id }) => id))],
  )
  return wereBegun ? rows : []
}
