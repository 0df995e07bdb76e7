import type { StatusChange as StatusChangeView } from '../../schemas/generated/api/status-changes.ts'
import type { Db } from '../db/db.ts'
import { keyOf } from '../db/queries/levels.ts'
import { listStatusChanges, type StatusChange } from '../db/queries/status-changes.ts'
import { listPage, numberCursor, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openUndeployed } from './visible-records.ts'

/** How the status of a level has changed, for people who may see it. */
export function addStatusChangeRoutes(on: OnOperation, { reader }: { reader: Db }): void {
  on('GET /v1/integrations/{integration}/installations/{installation}/status-changes', async (request) => {
    const { level } = await openUndeployed(reader, request)
    return listPage(request, {
      cursor: numberCursor,
      cursorOf: ({ number }) => String(number),
      read: ({ after, limit }) =>
        listStatusChanges(reader, keyOf(level), {
          limit,
          ...(after !== undefined && { before: Number(after) }),
        }),
      toView: toStatusChange,
    })
  })
}

function toStatusChange(change: StatusChange): StatusChangeView {
  const { at, fromStatus, toStatus, why, reason, actorKind, actorId, requestId, eventId, version } = change
  return {
    object: 'status-change',
    at: toIso(at),
    from: fromStatus,
    to: toStatus,
    why: why as StatusChangeView['why'],
    by: { kind: actorKind, id: actorId },
    ...(reason !== null && { reason }),
    ...(requestId !== null && { request: requestId }),
    ...(eventId !== null && { event: eventId }),
    ...(version !== null && { version }),
  }
}
