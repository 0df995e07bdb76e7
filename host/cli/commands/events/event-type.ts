import { type PublishableEventType, publishableEventTypes } from '../../../../schemas/events.ts'
import { hintForName } from '../../../manifest/problems/nearest-name.ts'
import { quoteValue } from '../../../manifest/problems/visible-text.ts'
import { UsageError } from '../../usage-error.ts'

/** @throws UsageError, which names the nearest type */
export function parseEventType(text: string): PublishableEventType {
  const found = publishableEventTypes.find((type) => type === text)
  if (found !== undefined) return found
  throw new UsageError(
    `There is no event type ${quoteValue(text)} to publish; ${hintForName(text, publishableEventTypes, 'there are')}.`,
  )
}
