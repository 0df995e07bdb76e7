import { storeNewest } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { type Health, updateHealth } from '../db/queries/endpoints.ts'
import { type Stored, stored } from '../queue/job-handler.ts'

/** Endpoints that have answered last: what is stored late is so by seconds. */
const remembered = 10_000

/**
 * Stores since when endpoints fail, or that they do not, together with the attempts that have shown it.
 *
 * @returns what to store for an attempt that has ended: whether that changes anything is for the table to say, as the
 *   endpoint was read when the attempt began
 */
export function createHealthNotes(): (endpointId: string, isDelivered: boolean, endedAt: number) => Stored {
  /** What the database did not take at first is stored late: a failure says nothing of an endpoint that has answered since. */
  const deliveredAt = new Map<string, number>()
  return (id, isDelivered, endedAt) => {
    if (isDelivered) storeNewest(deliveredAt, id, endedAt, remembered)
    const health: Health = { id, failingSince: isDelivered ? null : endedAt }
    return stored(change, health)
  }

  /** In the order of the attempts: one that failed after one that did not fails since then. */
  async function change(transaction: Db, changes: readonly Health[]): Promise<[]> {
    const last = new Map(changes.map((one) => [one.id, one]))
    const well = new Map(changes.flatMap((one) => (one.failingSince === null ? [[one.id, one]] : [])))
    await updateHealth(transaction, [...well.values()])
    await updateHealth(transaction, [...last.values()].filter(isFailingStill))
    return []
  }

  function isFailingStill({ id, failingSince }: Health): boolean {
    return failingSince !== null && failingSince >= (deliveredAt.get(id) ?? 0)
  }
}
