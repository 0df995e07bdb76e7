import type { Db } from '../../db.ts'
import type { Endpoint, EndpointState } from '../endpoints.ts'

/** The newest first. `before`: the id of an endpoint, where the next page begins. */
export async function listEndpoints(
  db: Db,
  where: {
    organizationId?: string
    installationId?: string
    state?: EndpointState
    before?: string
    limit: number
  },
): Promise<Endpoint[]> {
  const { organizationId, installationId, state, before, limit } = where
  const query = db('endpoints').orderBy('id', 'desc').limit(limit)
  if (before !== undefined) query.where('id', '<', before)
  if (installationId !== undefined) query.where({ installationId })
  if (state !== undefined) query.where({ state })
  if (organizationId !== undefined) {
    query.whereIn('installationId', db('installations').select('id').where({ organizationId }))
  }
  return (await query).map(toEndpoint)
}

export async function findEndpoint(db: Db, id: string): Promise<Endpoint | undefined> {
  const row = await db('endpoints').where({ id }).first()
  return row && toEndpoint(row)
}

/** SQLite keeps no booleans. */
const toEndpoint = (row: Endpoint): Endpoint => ({ ...row, ordered: Boolean(row.ordered) })

/** How many deliveries are owed to it, by what they wait for. */
export async function countOwedTo(db: Db, id: string): Promise<{ due: number; waiting: number }> {
  const count = async (state: 'due' | 'waiting') => {
    const row = await db('jobs').where({ state, kind: 'delivery', lane: id }).count({ count: '*' }).first()
    return Number(row?.count ?? 0)
  }
  return { due: await count('due'), waiting: await count('waiting') }
}

/** @returns whether it was in one of the states `from` */
export async function changeEndpointState(
  db: Db,
  id: string,
  change: { from: readonly EndpointState[]; to: EndpointState; reason: string | null },
): Promise<boolean> {
  const { from, to: state, reason } = change
  const wellAgain = state === 'active' ? { failingSince: null } : {}
  const changed = await db('endpoints')
    .where({ id })
    .whereIn('state', from)
    .update({ state, reason, ...wellAgain, updatedAt: Date.now() })
  return changed === 1
}

/** @param db no transaction: whoever stores what came of deliveries holds some of these rows, and waits for others, in another order */
export async function setOrdered(db: Db, id: string, ordered: boolean): Promise<void> {
  await db('endpoints').where({ id }).update({ ordered, updatedAt: Date.now() })
  // Few run at once; one that has come to its end meanwhile may be due again.
  const running = await db('jobs').where({ state: 'running', lane: id }).pluck('id')
  for (const job of running) {
    await db('jobs').where({ id: job }).whereIn('state', ['running', 'due']).update({ ordered })
  }
}

/** Where a walk over the due deliveries of an endpoint has come to. */
export type DuePlace = { dueAt: number; id: string }

/**
 * Marks the next up to `limit` due deliveries of an endpoint. Those that wait are marked when they are released. What
 * hosts have read of them before holds no longer.
 *
 * @returns how far it came, `undefined` at the end
 */
export async function markOrdered(
  db: Db,
  given: { endpointId: string; ordered: boolean; after: DuePlace; limit: number },
): Promise<DuePlace | undefined> {
  const { endpointId, ordered, after, limit } = given
  const rows = await db('jobs')
    .select('id', 'dueAt')
    .where({ state: 'due', kind: 'delivery', lane: endpointId, ordered: !ordered })
    .whereRaw('(due_at, id) > (?, ?)', [after.dueAt, after.id])
    .orderBy(['dueAt', 'id'])
    .limit(limit)
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) {
    await db('jobs')
      .whereIn('id', ids)
      .where({ state: 'due' })
      .update({ ordered, dueAt: db.raw('due_at + 1') })
  }
  return rows.length === limit ? rows.at(-1) : undefined
}
