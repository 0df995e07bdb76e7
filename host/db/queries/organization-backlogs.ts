import { nowOf } from '../database-clock.ts'
import type { Db } from '../db.ts'
import { rawRows } from '../sql.ts'
import { pendingSince } from './backlog.ts'
import { comesDue } from './claims.ts'

/** The pending jobs of an organization's installations, and the age of the oldest one. 0: no job is late. */
export type OrganizationBacklog = { organizationId: string; backlog: number; oldestMs: number }

type Row = { organizationId: string; jobs: number | string; since: number | string }

/**
 * Reads the backlog of each organization that has one. One statement for all: it reads due jobs in their index alone, and the
 * rows of retries, scheduled tasks, running and waiting jobs. A task of an integration belongs to no organization.
 */
export async function readOrganizationBacklogs(db: Db): Promise<OrganizationBacklog[]> {
  const since = `min(${pendingSince(db)})`
  // `comesDue` jobs are counted with the due ones, by their due time. Here the older time of a retry is added.
  const rows = await rawRows<Row>(
    db,
    `with pending(lane, jobs, since) as (
       select lane, count(*), min(due_at) from jobs where state = 'due' group by kind, lane
       union all select lane, 0, ${since} from jobs where ${comesDue} group by lane
       union all select lane, count(*), ${since} from jobs where state = 'running' group by lane
       union all select lane, count(*), ${since} from jobs where state = 'waiting' group by lane
     )
     select organization_id as "organizationId", sum(jobs) as jobs, min(since) as since
     from pending
     left join receivers on receivers.id = pending.lane
     join installations on installations.id = coalesce(receivers.installation_id, pending.lane)
     group by organization_id`,
    [],
  )
  const nowMs = nowOf(db)
  return rows.map(({ organizationId, jobs, since }) => ({
    organizationId,
    backlog: Number(jobs),
    oldestMs: Math.max(0, nowMs - Number(since)),
  }))
}
