import type { Db } from '../db/db.ts'
import { readBacklog } from '../db/queries/backlog.ts'
import { readOrganizationBacklogs } from '../db/queries/organization-backlogs.ts'
import { readResidentBytes } from '../sandbox/process/proc.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import type { Load } from './record-activity.ts'

/** The memory of this host's sandbox processes, and the pending work of all hosts, in all and by organization. */
export async function readLoad(db: Db, sandboxes: Pick<Sandboxes, 'processes'>): Promise<Load> {
  const { jobs, oldest } = await readBacklog(db)
  const pending = jobs.filter(({ state }) => state !== 'failed')
  return {
    memoryBytes: sandboxes.processes().reduce((sum, { pid }) => sum + readResidentBytes(pid), 0),
    backlog: pending.reduce((sum, { count }) => sum + count, 0),
    oldestMs: Math.max(0, ...oldest.map(({ ageMs }) => ageMs)),
    ofOrganizations: await readOrganizationBacklogs(db),
  }
}
