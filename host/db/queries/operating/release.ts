import type { Db } from '../../db.ts'
import { isPostgres, jsonTexts, rawRows } from '../../rows/json-rows.ts'

/** Released, deliveries are done in the order that their endpoint keeps now. */
const release = `update jobs set state = 'due',
  ordered = coalesce((select ordered from endpoints where id = jobs.lane), ordered)`

/**
 * Makes up to `limit` jobs due that wait for a lane, the longest owed first, unless it is held. Those that somebody else is
 * releasing are left to them.
 *
 * @returns how many
 */
export async function releaseSomeWaiting(db: Db, lane: string, limit: number): Promise<number> {
  if (!(await isOpen(db, lane))) return 0
  const some = `select id from jobs where state = 'waiting' and lane = ? order by position limit ?`
  const released = await rawRows(
    db,
    // By their ids: however much the statistics are behind, the table is not read.
    isPostgres(db)
      ? `${release} where id = any (array (${some} for update skip locked)) returning id`
      : `${release} where id in (${some}) returning id`,
    [lane, limit],
  )
  return released.length
}

/**
 * Whether nothing holds a lane: neither its endpoint, its installation nor its integration. What was owed to an endpoint that is
 * disabled fails.
 */
async function isOpen(db: Db, lane: string): Promise<boolean> {
  const open = await rawRows(
    db,
    `select 1 as open from endpoints join installations on installations.id = endpoints.installation_id
       where endpoints.id = ? and endpoints.state <> 'paused' and installations.status <> 'moving'
     union all
     select 1 from installations where id = ? and status not in ('paused', 'suspended', 'moving')
     union all
     select 1 from integrations where name = ? and suspended_at is null`,
    [lane, lane, lane],
  )
  return open.length > 0
}

/** Makes those of the jobs due that wait. */
export async function releaseJobs(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(`${release} where state = 'waiting' and id in ${jsonTexts(db)}`, [JSON.stringify(ids)])
}

/** The next lane after `after` for which something waits. */
export async function findWaitingLane(db: Db, after: string): Promise<string | undefined> {
  const row = await db('jobs')
    .whereRaw(`state = 'waiting'`)
    .where('lane', '>', after)
    .orderBy('lane')
    .first('lane')
  return row?.lane
}

/** Lanes of installations for which something waits: their own, and those of their endpoints. */
export async function findWaitingLanes(db: Db, installationIds: readonly string[]): Promise<string[]> {
  const waiting = (lane: string) =>
    db('jobs').select(db.raw('1')).whereRaw(`state = 'waiting'`).where('lane', db.ref(lane))
  const own = await db('installations')
    .whereIn('id', installationIds)
    .whereExists(waiting('installations.id'))
    .pluck('id')
  const endpoints = await db('endpoints')
    .whereIn('installationId', installationIds)
    .whereExists(waiting('endpoints.id'))
    .pluck('id')
  return [...own, ...endpoints]
}
