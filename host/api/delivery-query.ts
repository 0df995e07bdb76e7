import type { ParsedUrlQuery } from 'node:querystring'
import type { Caller } from '../access/tokens.ts'
import type { DeliveryState } from '../db/queries/deliveries.ts'
import type { DeliveryFilter } from '../db/queries/operating/list-deliveries.ts'
import { idIn, oneOf, ownOf, texts, timeOf } from './list-query.ts'

const names = ['installation', 'endpoint', 'event', 'eventType', 'state', 'before', 'after'] as const
const states = ['owed', 'delivered', 'failed'] as const satisfies DeliveryState[]

/**
 * The deliveries that a query asks for, of those that the caller may see: `installation`, `endpoint`, `event`,
 * `eventType`, `state`, and `after` and `before`, which are times. `before` may also be the id of a delivery, where
 * the next page begins.
 *
 * @throws AnnexError `bad_request`; `forbidden` for a script
 */
export function filterOf(caller: Caller, query: ParsedUrlQuery): DeliveryFilter & { before?: string } {
  const { installation, endpoint, event, eventType, state, before, after } = texts(query, names)
  const isPlace = before?.startsWith('dlv_')
  return {
    ...ownOf(caller),
    ...(installation !== undefined && { installationId: installation }),
    ...(endpoint !== undefined && { endpointId: endpoint }),
    ...(event !== undefined && { eventId: event }),
    ...(eventType !== undefined && { eventType }),
    ...(state !== undefined && { state: oneOf('state', state, states) }),
    ...(after !== undefined && { afterMs: timeOf('after', after) }),
    ...(before !== undefined && (isPlace ? idIn({ before }, 'dlv') : { beforeMs: timeOf('before', before) })),
  }
}
