import type { Db } from '../../db/db.ts'
import { inSteps, stepSize } from '../../db/in-steps.ts'
import type { Endpoint } from '../../db/queries/endpoints.ts'
import {
  changeEndpointState,
  type DuePlace,
  markOrdered,
  setOrdered,
} from '../../db/queries/operating/endpoints.ts'
import { releaseWaiting } from '../../db/release-waiting.ts'
import { AnnexError } from '../../errors/annex-error.ts'

/**
 * What is owed to a paused endpoint waits; what is being sent comes to its end.
 *
 * @throws AnnexError `conflict` when it is not active
 */
export async function pauseEndpoint(db: Db, { id, state }: Endpoint, reason: string | null): Promise<void> {
  if (await changeEndpointState(db, id, { from: ['active'], to: 'paused', reason })) return
  throw new AnnexError('conflict', `The endpoint ${id} is ${state}; only one that is active can be paused.`)
}

/**
 * Lets a paused or disabled endpoint go on. What has waited is due. What failed because it was disabled stays failed,
 * until somebody sends it again.
 *
 * @returns how many deliveries had waited
 * @throws AnnexError `conflict` when it is active
 */
export async function resumeEndpoint(db: Db, { id }: Endpoint, wake: () => void): Promise<number> {
  const change = { from: ['paused', 'disabled'], to: 'active', reason: null } as const
  if (!(await changeEndpointState(db, id, change))) {
    throw new AnnexError('conflict', `The endpoint ${id} is active already.`)
  }
  return releaseWaiting(db, id, wake)
}

/**
 * From now on, and for what is owed already: one delivery after the other in the order in which they were owed; or not. What a
 * call leaves undone that is cut off, the next one does.
 */
export async function orderEndpoint(db: Db, { id }: Endpoint, ordered: boolean): Promise<void> {
  await setOrdered(db, id, ordered)
  let after: DuePlace | undefined = { dueAt: 0, id: '' }
  await inSteps(async () => {
    if (after !== undefined) {
      after = await markOrdered(db, { endpointId: id, ordered, after, limit: stepSize })
    }
    return { changed: 0, more: after !== undefined }
  })
}
